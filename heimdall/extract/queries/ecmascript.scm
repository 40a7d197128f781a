; What JavaScript and TypeScript share; no language of its own.
; Definitions.
(class_declaration name: (_) @name body: (_) @body) @def.class
(class name: (_) @name body: (_) @body) @def.class
(variable_declarator name: (identifier) @name value: (class)) @def.class
(function_declaration name: (identifier) @name body: (_) @body) @def.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @def.function
(method_definition name: (_) @name body: (_) @body) @def.method
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)
          (generator_function body: (_) @body)]) @def.function
(assignment_expression
  left: [(identifier) (member_expression)] @name
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)
          (class body: (_) @body)]) @def.function
(pair
  key: (property_identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method
(export_statement "default" @name @export value: [(arrow_function) (function_expression)]) @def.function
(export_statement "default" @name @export value: (class)) @def.class

; What precedes a definition belongs to it.
(export_statement declaration: (_)) @outer
(lexical_declaration . (variable_declarator value: [(arrow_function) (function_expression) (class)]) .) @outer

; Objects with a name qualify what stands in them; nameless ones only hide it.
(variable_declarator name: (identifier) @name value: (object)) @within
(object) @scope
[(statement_block) (for_statement) (for_in_statement) (catch_clause) (switch_body)
 (arrow_function)] @scope
[(function_expression) (generator_function)] @scope.function
(formal_parameters) @params
(arrow_function parameter: (identifier) @params)

; What names are bound to.
[(import_statement)] @import
(variable_declarator value: (call_expression function: (identifier) @_f (#eq? @_f "require"))) @import
(variable_declarator
  value: (member_expression object: (call_expression function: (identifier) @_f (#eq? @_f "require")))) @import
(call_expression function: (identifier) @_f (#eq? @_f "require")) @import
(call_expression function: (import)) @import
(export_statement source: (string)) @import
(export_statement (export_clause)) @import
(assignment_expression left: (member_expression) @_left
  (#match? @_left "^(module\\.)?exports(\\.[A-Za-z_$][A-Za-z0-9_$]*)?$")) @import
(variable_declarator
  name: (_) value: [(new_expression) (identifier) (member_expression) (call_expression)]) @value
(variable_declarator name: (_) @bind !value)
(variable_declarator
  name: (identifier) @bind
  value: [(number) (string) (template_string) (array) (object) (true) (false) (null)
          (binary_expression) (await_expression) (ternary_expression)])
(variable_declarator name: [(object_pattern) (array_pattern)] @bind)
(program [(lexical_declaration (variable_declarator value: [(number) (string)]) @value)
          (export_statement (lexical_declaration (variable_declarator value: [(number) (string)]) @value))])
(assignment_expression
  left: [(identifier) (member_expression object: (this))]
  right: [(new_expression) (identifier) (member_expression) (call_expression)]) @value
(for_in_statement left: (_) @bind)
(catch_clause parameter: (_) @bind)

; Exports.
(export_statement declaration: (_ name: (_) @export))
(export_statement declaration: (_ (variable_declarator name: (identifier) @export)))
(export_statement "default" declaration: (_ name: (_) @export.default))
(export_statement "default" value: (identifier) @export.default)

; References.
(call_expression function: [(identifier) (member_expression) (super)] @call)
(new_expression constructor: [(identifier) (member_expression)] @new)
(return_statement [(identifier) (member_expression) (call_expression) (new_expression)] @return)
(arguments (identifier) @use)
(return_statement (identifier) @use)
(pair value: (identifier) @use)
(array (identifier) @use)
(variable_declarator value: (identifier) @use)
(decorator [(identifier) (member_expression)] @call)
