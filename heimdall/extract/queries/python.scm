; Definitions. A decorated one begins at its first decorator.
(decorated_definition) @outer
(decorator) @decorator
(class_definition name: (identifier) @name body: (block) @body) @def.class
(function_definition name: (identifier) @name body: (block) @body) @def.function
(function_definition parameters: (parameters) @params)
(function_definition return_type: (type) @result)
(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript)] @base))
(type_alias_statement left: (type (identifier) @name)) @def.type

; Scopes without a name.
[(lambda) (list_comprehension) (set_comprehension) (dictionary_comprehension)
 (generator_expression)] @scope
(lambda_parameters) @params

; What names are bound to.
[(import_statement) (import_from_statement)] @import
(assignment) @value
(with_item value: (as_pattern (call) alias: (as_pattern_target (identifier)))) @value
(augmented_assignment left: (identifier) @_left (#eq? @_left "__all__")) @value
(named_expression name: (identifier) @bind)
(for_statement left: (_) @bind)
(for_in_clause left: (_) @bind)
(as_pattern_target) @bind
(case_clause (case_pattern) @bind)
(delete_statement (identifier) @bind)
(global_statement) @global

; References.
(return_statement [(identifier) (attribute) (call)] @return)
(call function: [(identifier) (attribute) (call)] @call)
(type) @type
(argument_list (identifier) @use)
(keyword_argument value: (identifier) @use)
(return_statement (identifier) @use)
(assignment right: (identifier) @use)
(pair value: (identifier) @use)
(list (identifier) @use)
(tuple (identifier) @use)
