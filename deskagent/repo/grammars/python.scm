(function_definition) @function
(class_definition) @class
(module (expression_statement (assignment left: (identifier)) @variable))
(class_definition body: (block (expression_statement (assignment left: (identifier)) @field)))
(assignment left: (attribute object: (identifier) attribute: (identifier))) @field
(type_alias_statement) @type

(call function: (identifier) @call)
(call function: (attribute attribute: (identifier) @call))
(identifier) @ref
