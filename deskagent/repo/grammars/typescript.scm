(function_declaration) @function
(generator_function_declaration) @function
(function_signature) @function
(variable_declarator value: [(arrow_function) (function_expression) (generator_function)]) @function
(assignment_expression
  left: (member_expression)
  right: [(arrow_function) (function_expression) (generator_function)]) @function
(pair key: (property_identifier) value: [(arrow_function) (function_expression)]) @method
(class_declaration) @class
(abstract_class_declaration) @class
(interface_declaration) @interface
(enum_declaration) @enum
(type_alias_declaration) @type
(internal_module) @module
(method_definition) @method
(method_signature) @method
(abstract_method_signature) @method
(public_field_definition) @field
(property_signature) @field
(assignment_expression left: (member_expression object: (this))) @field
(program (lexical_declaration (variable_declarator) @variable))
(program (variable_declaration (variable_declarator) @variable))
(program (export_statement (lexical_declaration (variable_declarator) @variable)))

(call_expression function: (identifier) @call)
(call_expression function: (member_expression property: (property_identifier) @call))
(new_expression constructor: (identifier) @call)
[
  (identifier)
  (property_identifier)
  (private_property_identifier)
  (type_identifier)
  (shorthand_property_identifier)
  (shorthand_property_identifier_pattern)
] @ref
