; inherits: ecmascript

(class_declaration (class_heritage [(identifier) (member_expression)] @base))
(class (class_heritage [(identifier) (member_expression)] @base))
(field_definition property: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method
(field_definition property: (_) value: [(new_expression) (identifier) (call_expression)]) @value

; References.
(jsx_opening_element name: [(identifier) (member_expression)] @use)
(jsx_self_closing_element name: [(identifier) (member_expression)] @use)
