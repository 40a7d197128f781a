; Definitions.
(package_declaration [(scoped_identifier) (identifier)] @package)
(class_declaration name: (identifier) @name body: (class_body) @body) @def.class
(record_declaration name: (identifier) @name body: (class_body) @body) @def.class
(interface_declaration name: (identifier) @name body: (interface_body) @body) @def.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @def.interface
(enum_declaration name: (identifier) @name body: (enum_body) @body) @def.enum
(enum_constant name: (identifier) @name) @def.constant
(method_declaration name: (identifier) @name) @def.method
(method_declaration body: (block) @body)
(method_declaration type: (_) @result)
(annotation_type_element_declaration name: (identifier) @name) @def.method
(constructor_declaration name: (identifier) @name body: (_) @body) @def.method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @def.method

; What is extended and implemented.
(superclass [(type_identifier) (scoped_type_identifier)] @base)
(superclass (generic_type . (_) @base))
(super_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @base))
(super_interfaces (type_list (generic_type . (_) @base)))
(extends_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @base))
(extends_interfaces (type_list (generic_type . (_) @base)))

; Scopes without a name.
[(block) (lambda_expression) (for_statement) (enhanced_for_statement) (catch_clause)
 (try_with_resources_statement) (switch_block_statement_group) (switch_rule)] @scope
(object_creation_expression (class_body) @scope.function)
[(formal_parameters) (inferred_parameters)] @params
(lambda_expression parameters: (identifier) @params)

; What names are bound to.
(import_declaration) @import
(type_parameter (type_identifier) @bind)
(field_declaration) @value
(constant_declaration) @value
(local_variable_declaration) @value
(enhanced_for_statement) @value
(resource name: (_)) @value
(instanceof_expression name: (_)) @value
(type_pattern) @value
(catch_formal_parameter name: (_) @bind)

; References.
(method_invocation) @call
(object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @new)
(object_creation_expression type: (generic_type . (_) @new))
(method_reference) @use
(annotation name: (_) @use)
(marker_annotation name: (_) @use)
(formal_parameter type: (_) @type)
(field_declaration type: (_) @type)
(local_variable_declaration type: (_) @type)
(cast_expression type: (_) @type)
(instanceof_expression right: (_) @type)
(catch_type (_) @type)
(throws (_) @type)
(class_literal (_) @type)
