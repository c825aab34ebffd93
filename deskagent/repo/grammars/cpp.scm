(function_definition) @function
(declaration declarator: (function_declarator)) @function
(field_declaration declarator: (function_declarator)) @method
(class_specifier body: (_)) @class
(struct_specifier body: (_)) @struct
(union_specifier body: (_)) @struct
(enum_specifier body: (_)) @enum
(enumerator) @constant
(namespace_definition) @module
(type_definition) @type
(alias_declaration) @type
(concept_definition) @type
(field_declaration) @field
(translation_unit (declaration) @variable)
(namespace_definition body: (declaration_list (declaration) @variable))
(preproc_def) @macro
(preproc_function_def) @macro

(call_expression function: (identifier) @call)
(call_expression function: (qualified_identifier name: (identifier) @call))
(call_expression function: (field_expression field: (field_identifier) @call))
(call_expression function: (template_function name: (identifier) @call))
[(identifier) (field_identifier) (type_identifier) (namespace_identifier)] @ref
