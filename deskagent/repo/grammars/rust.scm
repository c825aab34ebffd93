(function_item) @function
(function_signature_item) @function
(struct_item) @struct
(union_item) @struct
(enum_item) @enum
(enum_variant) @field
(trait_item) @interface
(type_item) @type
(mod_item) @module
(const_item) @constant
(static_item) @variable
(macro_definition) @macro
(field_declaration) @field
(impl_item) @scope

(call_expression function: (identifier) @call)
(call_expression function: (scoped_identifier name: (identifier) @call))
(call_expression function: (field_expression field: (field_identifier) @call))
(macro_invocation macro: (identifier) @call)
[(identifier) (field_identifier) (type_identifier) (shorthand_field_identifier)] @ref
