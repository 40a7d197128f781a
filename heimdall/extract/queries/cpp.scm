; inherits: c

; Definitions. One that stands outside its class is named with it.
(template_declaration [(class_specifier) (struct_specifier) (function_definition) (alias_declaration)]) @outer
(function_definition
  declarator: (function_declarator
    declarator: [(field_identifier) (operator_name) (destructor_name)] @name)
  body: (_) @body) @def.function
(function_definition
  declarator: (function_declarator declarator: (template_function name: (identifier) @name))
  body: (_) @body) @def.function
(function_definition
  declarator: (function_declarator declarator: (qualified_identifier) @name) body: (_) @body) @def.method
(function_definition
  declarator: (pointer_declarator
    declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  body: (_) @body) @def.function
(function_definition
  declarator: (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier) @name))
  body: (_) @body) @def.method
(function_definition
  declarator: (reference_declarator
    (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name))
  body: (_) @body) @def.function
(function_definition
  declarator: (reference_declarator (function_declarator declarator: (qualified_identifier) @name))
  body: (_) @body) @def.method
(function_definition
  declarator: (reference_declarator (function_declarator parameters: (parameter_list) @params)))
(function_definition declarator: (operator_cast) @name body: (_) @body) @def.function
(class_specifier name: (type_identifier) @name body: (_) @body) @def.class
(class_specifier name: (template_type name: (type_identifier) @name) body: (_) @body) @def.class
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_) @body) @def.struct
(class_specifier name: (qualified_identifier) @name body: (_) @body) @def.class
(struct_specifier name: (qualified_identifier) @name body: (_) @body) @def.struct
(namespace_definition name: [(namespace_identifier) (nested_namespace_specifier)] @name body: (_) @body) @def.module
(alias_declaration name: (type_identifier) @name) @def.type

; What is inherited from.
(base_class_clause [(type_identifier) (qualified_identifier)] @base)
(base_class_clause (template_type name: (_) @base))

; Scopes without a name.
[(lambda_expression) (for_range_loop) (catch_clause)] @scope
(lambda_expression declarator: (_ parameters: (parameter_list) @params))
(catch_clause parameters: (parameter_list) @params)

; What names are bound to.
(declaration declarator: (reference_declarator (identifier))) @value
(field_declaration declarator: (reference_declarator (field_identifier))) @value
(for_range_loop) @value
(type_parameter_declaration (type_identifier) @bind)

; References.
(call_expression function: (qualified_identifier) @call)
(call_expression function: (template_function name: (identifier) @call))
(new_expression type: [(type_identifier) (qualified_identifier)] @new)
(new_expression type: (template_type name: (_) @new))
(declaration type: [(qualified_identifier) (template_type)] @type)
(field_declaration type: [(qualified_identifier) (template_type)] @type)
