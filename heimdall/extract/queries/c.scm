; Definitions. What a name is wrapped in tells what a function returns.
(function_definition declarator: (function_declarator declarator: (identifier) @name) body: (_) @body) @def.function
(function_definition
  declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  body: (_) @body) @def.function
(function_definition
  declarator: (pointer_declarator
    declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  body: (_) @body) @def.function
(function_definition type: (_) @result)
(struct_specifier name: (type_identifier) @name body: (_) @body) @def.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @def.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @def.enum
(enumerator name: (identifier) @name) @def.constant
(type_definition declarator: (type_identifier) @name) @def.type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @def.type
(type_definition
  declarator: (function_declarator
    declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @def.type
(preproc_def name: (identifier) @name value: (_)) @def.macro
(preproc_function_def name: (identifier) @name) @def.macro

; What other files can link to.
((function_definition declarator: (function_declarator declarator: (identifier) @export)) @_whole
  (#not-match? @_whole "^(inline\\s+)?static\\s"))
((function_definition
   declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @export))) @_whole
  (#not-match? @_whole "^(inline\\s+)?static\\s"))

; Scopes without a name.
[(compound_statement) (for_statement)] @scope
(function_definition declarator: (function_declarator parameters: (parameter_list) @params))
(function_definition
  declarator: (pointer_declarator declarator: (function_declarator parameters: (parameter_list) @params)))

; What names are bound to.
(preproc_include) @import
(declaration declarator: [(identifier) (init_declarator) (array_declarator)]) @value
(declaration declarator: (pointer_declarator declarator: (identifier))) @value
(field_declaration declarator: (field_identifier)) @value
(field_declaration declarator: (pointer_declarator declarator: (field_identifier))) @value

; References.
(call_expression function: [(identifier) (field_expression)] @call)
(return_statement (identifier) @use)
(argument_list (identifier) @use)
(argument_list (pointer_expression argument: (identifier) @use))
(initializer_list (identifier) @use)
(initializer_pair value: (identifier) @use)
(assignment_expression right: (identifier) @use)
(init_declarator value: (identifier) @use)
(parameter_declaration type: (_) @type)
(declaration type: [(type_identifier) (struct_specifier !body)] @type)
(field_declaration type: [(type_identifier) (struct_specifier !body)] @type)
(type_descriptor type: (_) @type)
