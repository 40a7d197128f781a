; inherits: ecmascript

(abstract_class_declaration name: (_) @name body: (_) @body) @def.class
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(type_alias_declaration name: (_) @name) @def.type
(internal_module name: (_) @name body: (_) @body) @def.module
(module name: (_) @name body: (_) @body) @def.module
(function_signature name: (_) @name) @def.function
(method_signature name: (_) @name) @def.method
(abstract_method_signature name: (_) @name) @def.method
(public_field_definition
  name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method
(public_field_definition name: (_)) @value

(extends_clause value: [(identifier) (member_expression)] @base)
(implements_clause [(type_identifier) (nested_type_identifier)] @base)
(implements_clause (generic_type name: (_) @base))
(extends_type_clause [(type_identifier) (nested_type_identifier)] @base)
(extends_type_clause (generic_type name: (_) @base))

(function_declaration return_type: (type_annotation) @result)
(method_definition return_type: (type_annotation) @result)
(variable_declarator type: (type_annotation) value: [(number) (string) (object) (array) (null)]) @value

; References.
(type_annotation) @type
(type_arguments) @type
