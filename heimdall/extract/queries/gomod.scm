; The module's path: what the import paths of its packages begin with.
(module_directive (module_path) @package)
