; Definitions. A lone one begins at its keyword.
(package_clause (package_identifier) @package)
(type_declaration . (type_spec) .) @outer
(const_declaration . (const_spec) .) @outer
(function_declaration name: (identifier) @name body: (block) @body) @def.function
(function_declaration result: (_) @result)
(method_declaration receiver: (parameter_list) @receiver name: (field_identifier) @name body: (block) @body) @def.method
(method_declaration result: (_) @result)
(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @def.struct
(type_spec name: (type_identifier) @name type: (interface_type)) @def.interface
(type_spec
  name: (type_identifier) @name
  type: [(type_identifier) (qualified_type) (generic_type) (pointer_type) (array_type) (slice_type)
         (map_type) (channel_type) (function_type) (parenthesized_type)]) @def.type
(type_alias name: (type_identifier) @name) @def.type
(method_elem name: (field_identifier) @name) @def.method
(method_elem result: (_) @result)
(source_file (const_declaration (const_spec . name: (identifier) @name) @def.constant))
(short_var_declaration
  left: (expression_list . (identifier) @name .)
  right: (expression_list . (func_literal body: (block) @body) .)) @def.function
(var_spec
  . name: (identifier) @name
  value: (expression_list . (func_literal body: (block) @body) .)) @def.function

; What is embedded is inherited from.
(field_declaration !name type: [(type_identifier) (qualified_type) (generic_type)] @base)
(interface_type (type_elem . [(type_identifier) (qualified_type) (generic_type)] @base .))

; Scopes without a name.
[(block) (func_literal) (if_statement) (for_statement) (expression_case) (default_case) (type_case)
 (communication_case)] @scope
(function_declaration parameters: (parameter_list) @params)
(method_declaration parameters: (parameter_list) @params)
(func_literal parameters: (parameter_list) @params)

; What names are bound to.
(import_spec) @import
(type_parameter_declaration name: (identifier) @bind)
(method_declaration
  receiver: (parameter_list (parameter_declaration
    type: (pointer_type (generic_type type_arguments: (type_arguments) @bind)))))
(method_declaration
  receiver: (parameter_list (parameter_declaration
    type: (generic_type type_arguments: (type_arguments) @bind))))
(short_var_declaration right: (expression_list . [(identifier) (selector_expression)
  (call_expression) (composite_literal) (unary_expression) (type_assertion_expression)])) @value
(short_var_declaration left: (expression_list) @bind
  right: (expression_list . [(int_literal) (float_literal) (interpreted_string_literal)
    (raw_string_literal) (rune_literal) (binary_expression) (index_expression) (slice_expression)
    (true) (false) (nil) (parenthesized_expression) (type_conversion_expression)]))
(var_spec) @value
(field_declaration) @value
(range_clause left: (_) @bind)
(receive_statement left: (_) @bind)
(type_switch_statement alias: (_) @bind)

; References.
(call_expression function: [(identifier) (selector_expression)] @call)
(argument_list [(identifier) (selector_expression)] @use)
(return_statement (expression_list (identifier) @use))
(keyed_element (literal_element) . (literal_element (identifier) @use))
(assignment_statement right: (expression_list (identifier) @use))
(composite_literal type: (_) @type)
(parameter_declaration type: (_) @type)
(field_declaration name: (_) type: (_) @type)
(var_spec type: (_) @type)
(type_assertion_expression type: (_) @type)
(type_case type: (_) @type)
