(function_declaration) @function
(method_declaration) @method
(type_spec type: (struct_type)) @struct
(type_spec type: (interface_type)) @interface
(type_spec) @type
(type_alias) @type
(field_declaration name: (field_identifier)) @field
(method_elem) @method
(source_file (const_declaration (const_spec) @constant))
(source_file (var_declaration (var_spec) @variable))
(source_file (var_declaration (var_spec_list (var_spec) @variable)))

(call_expression function: (identifier) @call)
(call_expression function: (selector_expression field: (field_identifier) @call))
[(identifier) (field_identifier) (type_identifier) (package_identifier)] @ref
