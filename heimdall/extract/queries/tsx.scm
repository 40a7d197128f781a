; inherits: typescript

; References.
(jsx_opening_element name: [(identifier) (member_expression)] @use)
(jsx_self_closing_element name: [(identifier) (member_expression)] @use)
