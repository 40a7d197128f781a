; Definitions.
(function_item name: (identifier) @name body: (block) @body) @def.function
(function_item return_type: (_) @result)
(function_signature_item name: (identifier) @name) @def.function
(function_signature_item return_type: (_) @result)
(struct_item name: (type_identifier) @name) @def.struct
(union_item name: (type_identifier) @name) @def.struct
(enum_item name: (type_identifier) @name body: (_) @body) @def.enum
(enum_variant name: (identifier) @name) @def.constant
(trait_item name: (type_identifier) @name body: (_) @body) @def.trait
(mod_item name: (identifier) @name body: (_) @body) @def.module
(type_item name: (type_identifier) @name) @def.type
(macro_definition name: (identifier) @name) @def.macro
(const_item name: (identifier) @name) @def.constant
(static_item name: (identifier) @name) @def.constant

; What stands in an impl belongs to its type, and the trait is inherited from.
(impl_item type: [(type_identifier) (scoped_type_identifier)] @name) @within
(impl_item type: (generic_type type: (_) @name)) @within
(impl_item trait: [(type_identifier) (scoped_type_identifier)] @base)
(impl_item trait: (generic_type type: (_) @base))
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier)] @base))
(trait_item bounds: (trait_bounds (generic_type type: (_) @base)))

; Scopes without a name.
[(block) (closure_expression) (for_expression) (match_arm) (if_expression) (while_expression)] @scope
(function_item parameters: (parameters) @params)
(closure_parameters) @params

; What names are bound to. In a module inside the file `super` is the file itself, whose names are
; seen without it.
(source_file (use_declaration) @import)
((declaration_list (use_declaration) @import) (#not-match? @import "(super|self)::"))
((block (use_declaration) @import) (#not-match? @import "(super|self)::"))
(mod_item !body) @import
(type_parameter name: (type_identifier) @bind)
(let_declaration pattern: (identifier)) @value
(let_declaration pattern: [(tuple_pattern) (tuple_struct_pattern) (struct_pattern) (slice_pattern)
                           (ref_pattern) (reference_pattern)] @bind)
(field_declaration) @value
(let_condition pattern: (_) @bind)
(for_expression pattern: (_) @bind)
(match_pattern (_) @bind)

; References.
(call_expression function: [(identifier) (scoped_identifier) (field_expression)] @call)
(call_expression function: (generic_function function: (_) @call))
(macro_invocation macro: (_) @call)
(struct_expression name: (_) @type)
(arguments [(identifier) (scoped_identifier)] @use)
(parameter type: (_) @type)
(let_declaration type: (_) @type)
(field_declaration type: (_) @type)
(ordered_field_declaration_list type: (_) @type)
(type_item type: (_) @type)
