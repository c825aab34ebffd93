(function_definition) @function
(declaration declarator: (function_declarator)) @function
(struct_specifier body: (_)) @struct
(union_specifier body: (_)) @struct
(enum_specifier body: (_)) @enum
(enumerator) @constant
(type_definition) @type
(field_declaration) @field
(translation_unit (declaration) @variable)
(preproc_def) @macro
(preproc_function_def) @macro

(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call))
[(identifier) (field_identifier) (type_identifier)] @ref
