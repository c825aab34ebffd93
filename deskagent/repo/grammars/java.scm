(class_declaration) @class
(record_declaration) @class
(interface_declaration) @interface
(annotation_type_declaration) @interface
(enum_declaration) @enum
(enum_constant) @constant
(method_declaration) @method
(constructor_declaration) @method
(compact_constructor_declaration) @method
(field_declaration) @field

(method_invocation name: (identifier) @call)
(object_creation_expression type: (type_identifier) @call)
(object_creation_expression type: (generic_type (type_identifier) @call))
[(identifier) (type_identifier)] @ref
