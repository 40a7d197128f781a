"""The statements of the journal, each by its name.

Values are always bound, never pasted in: what the f-strings put together are pieces of this file.
"""
# ruff: noqa: S608, S105 # see above; and a "token" or a "pass" is no password here

_PATH_COLUMNS = """
    p.path, r.path, p.state, p.hash, p.size, p.mtime_ns, p.inode, p.asked, p.depth, p.extractor,
    p.language, p.generation, CASE p.state WHEN 2 THEN p.trouble ELSE p.skip_reason END,
    p.reconciled_at
    FROM paths p LEFT JOIN roots r ON r.id = p.root"""

_NODE_COLUMNS = """
    n.key, n.kind, n.name, n.qualname, n.line, n.end_line, n.signature, n.doc, n.digest"""

# -- questions -------------------------------------------------------------------------------------

PATH = f"SELECT {_PATH_COLUMNS} WHERE p.path = ?"
PATHS = f"SELECT {_PATH_COLUMNS} ORDER BY p.path"
PATHS_OF = f"SELECT {_PATH_COLUMNS} WHERE r.path = ? ORDER BY p.path"
_PROVEN = """
    p.state = 0 AND p.hash IS NOT NULL AND p.asked = :asked
    AND p.mtime_ns < (p.reconciled_at - :racy_ms) * 1000000
    AND (p.language, p.extractor) IN (SELECT key, value FROM json_each(:versions))"""
STATS = f"""
    SELECT p.path, p.size, p.mtime_ns, p.inode, coalesce({_PROVEN}, 0)
    FROM paths p JOIN roots r ON r.id = p.root WHERE r.path = :root AND p.state != 1"""
LANGUAGES_OF = """
    SELECT DISTINCT p.language FROM paths p JOIN roots r ON r.id = p.root
    WHERE r.path = ? AND p.state != 1"""
FILES_BY_ROOT = """
    SELECT r.path, count(*) FROM paths p JOIN roots r ON r.id = p.root
    WHERE p.state != 1 AND p.hash IS NOT NULL GROUP BY r.id"""
GONE_OF = f"SELECT {_PATH_COLUMNS} WHERE r.path = ? AND p.state = 1 ORDER BY p.path"
HOLDS = "SELECT EXISTS (SELECT 1 FROM paths WHERE path >= ? AND path < ? AND state != 1)"
BY_DIGEST = "SELECT path FROM paths WHERE hash = ? AND state = 0 ORDER BY path"
MOVES_FROM = "SELECT old, new, similarity, at FROM moves WHERE old = ? ORDER BY at DESC, new"
MOVES_TO = """
    SELECT old, new, similarity, at FROM moves WHERE new = ? OR (new >= ? AND new < ?)
    ORDER BY at DESC, old"""
_SKIPPED = """
    SELECT path, root, CASE state WHEN 2 THEN trouble ELSE skip_reason END AS reason FROM paths
    WHERE state != 1 AND (skip_reason != '' OR trouble != '')
    UNION ALL
    SELECT path, root, reason FROM skips s WHERE NOT EXISTS (
        SELECT 1 FROM paths p WHERE p.path = s.path AND p.state != 1
        AND (p.skip_reason != '' OR p.trouble != ''))"""
SKIPS = f"""
    SELECT s.path, s.reason FROM ({_SKIPPED}) s LEFT JOIN roots r ON r.id = s.root
    WHERE :root IS NULL OR r.path = :root ORDER BY 1, 2"""
SKIPS_WITH_ROOT = f"""
    SELECT s.path, r.path, s.reason FROM ({_SKIPPED}) s LEFT JOIN roots r ON r.id = s.root
    WHERE :root IS NULL OR r.path = :root"""
NODES = f"""
    SELECT {_NODE_COLUMNS} FROM paths p JOIN nodes n
    ON n.id BETWEEN p.id << 40 AND (p.id << 40) + 1099511627775
    WHERE p.path = ? ORDER BY n.place"""
NODE_NUMBERED = f"""
    SELECT {_NODE_COLUMNS} FROM paths p JOIN nodes n ON n.id = (p.id << 40) + ?
    WHERE p.path = ? AND n.key = ?"""
NODE = f"""
    SELECT {_NODE_COLUMNS} FROM paths p JOIN nodes n
    ON n.id BETWEEN p.id << 40 AND (p.id << 40) + 1099511627775
    WHERE p.path = ? AND n.key = ?"""
SYMBOLS_BY_DIGEST = """
    SELECT p.path, n.key, n.kind FROM nodes n JOIN paths p ON p.id = n.id >> 40
    WHERE substr(n.digest, 1, 6) = substr(?, 1, 6) AND n.digest = ? AND n.key != ''
    ORDER BY p.path, n.key"""
SYMBOLS_NAMED = """
    SELECT p.path, n.key, n.kind FROM nodes n JOIN paths p ON p.id = n.id >> 40
    WHERE n.name = ? AND n.key != '' ORDER BY p.path, n.key LIMIT ?"""
EDGES_FROM = """
    SELECT q.path, m.key, m.kind, e.relation, e.line, coalesce(e.via, e.strategy),
           coalesce(e.sure, e.confidence)
    FROM paths p JOIN nodes n ON n.id BETWEEN p.id << 40 AND (p.id << 40) + 1099511627775
    JOIN edges e ON e.owner = p.id AND e.src = n.id
    JOIN nodes m ON m.id = e.dst JOIN paths q ON q.id = e.dst >> 40
    WHERE p.path = ? AND n.key = ? ORDER BY e.place"""
EDGES_TO = """
    SELECT q.path, m.key, m.kind, e.relation, e.line, coalesce(e.via, e.strategy),
           coalesce(e.sure, e.confidence)
    FROM paths p JOIN nodes n ON n.id BETWEEN p.id << 40 AND (p.id << 40) + 1099511627775
    JOIN edges e ON e.dst = n.id
    JOIN nodes m ON m.id = e.src JOIN paths q ON q.id = e.owner
    WHERE p.path = ? AND n.key = ? ORDER BY q.path, e.line, m.key, e.place"""
ROOTS = "SELECT path, depth, added_at FROM roots ORDER BY path"
STORES = "SELECT path, root, seen_at FROM stores ORDER BY path"
STAMP = "SELECT key, value FROM meta WHERE key IN ('uuid', 'pass')"
BEHIND = """
    SELECT EXISTS (SELECT 1 FROM queue) OR EXISTS (SELECT 1 FROM unsettled_paths)
        OR EXISTS (SELECT 1 FROM unsettled_tokens)"""
COUNT_STATES = "SELECT state, count(*) FROM paths GROUP BY state"
COUNT_ALL = """
    SELECT (SELECT count(*) FROM nodes), (SELECT count(*) FROM edges),
           (SELECT count(*) FROM edges WHERE dst IS NOT NULL), (SELECT count(*) FROM queue),
           (SELECT count(*) FROM roots)"""
EMPTY = "SELECT NOT EXISTS (SELECT 1 FROM paths) AND NOT EXISTS (SELECT 1 FROM queue)"
WAITING = "SELECT path FROM queue ORDER BY path"
UNBOUND = "SELECT EXISTS (SELECT 1 FROM unsettled_paths) OR EXISTS (SELECT 1 FROM unsettled_tokens)"
# Of the whole, for whoever wants it proved.
OWNED = "SELECT id >> 40, count(*) FROM nodes GROUP BY id >> 40"
ORPHANS = """
    SELECT owner FROM (SELECT id >> 40 AS owner FROM nodes UNION SELECT owner FROM edges
        UNION SELECT owner FROM bindings UNION SELECT owner FROM tokens)
    EXCEPT SELECT id FROM paths WHERE state != 1"""
ASTRAY = """
    SELECT DISTINCT p.path FROM edges e JOIN paths p ON p.id = e.owner
    WHERE e.dst IS NOT NULL AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = e.dst)"""
PATH_NUMBERED = "SELECT path FROM paths WHERE id = ?"
COUNT_REASONS = f"SELECT reason, count(DISTINCT path) FROM ({_SKIPPED}) GROUP BY reason"
FACTS = """
    SELECT id, depth, language, skip_reason, package, exports FROM paths
    WHERE path = ? AND state != 1"""
NODE_KEYS = "SELECT id, key FROM nodes WHERE id BETWEEN ? AND ?"
EDGES_AS_EXTRACTED = """
    SELECT src, relation, line, dst, module, name, strategy, confidence FROM edges
    WHERE owner = ? ORDER BY place"""
INHERITS_AS_EXTRACTED = """
    SELECT src, relation, line, dst, module, name, strategy, confidence FROM edges
    WHERE owner = ? AND relation = 2 ORDER BY place"""
BINDINGS = "SELECT name, module, target FROM bindings WHERE owner = ? ORDER BY place"
TAKE = "SELECT path, generation, reason FROM queue WHERE generation > ? ORDER BY generation LIMIT ?"

# -- the whole graph, in an order that depends on names alone --------------------------------------

LIVING = """
    SELECT p.id, p.path, r.path, p.depth FROM paths p LEFT JOIN roots r ON r.id = p.root
    WHERE p.state != 1"""
EDGES_OF = """
    SELECT e.src, e.relation, e.line, e.dst, e.module, e.name, coalesce(e.via, e.strategy),
           coalesce(e.sure, e.confidence), m.key
    FROM edges e LEFT JOIN nodes m ON m.id = e.dst WHERE e.owner = ?"""
NODES_OF = f"SELECT n.id, {_NODE_COLUMNS} FROM nodes n WHERE n.id BETWEEN ? AND ? ORDER BY n.key"

# -- binding ---------------------------------------------------------------------------------------

UNSETTLED_PATHS = "SELECT owner FROM unsettled_paths"
# CROSS: the planner knows no sizes, and would sweep over the tokens to look up the few.
OWNERS_OF_TOKENS = """
    SELECT DISTINCT t.owner FROM unsettled_tokens u CROSS JOIN tokens t ON t.token = u.token"""
ALL_OWNERS = "SELECT id FROM paths WHERE tail IS NOT NULL"
COUNT_OWNERS = "SELECT count(*) FROM paths WHERE tail IS NOT NULL"
OUTWARD = """
    SELECT place, dst, via, sure, src, relation, module, name, strategy, confidence FROM edges
    WHERE owner = ? AND module IS NOT NULL ORDER BY place"""
BIND = "UPDATE edges SET dst = ?, via = ?, sure = ? WHERE owner = ? AND place = ?"
TOKENS_OF = "SELECT tokens FROM kept WHERE owner = ?"
SET_TOKENS = "UPDATE kept SET tokens = ? WHERE owner = ?"
SETTLED_PATHS = "DELETE FROM unsettled_paths"
SETTLED_TOKENS = "DELETE FROM unsettled_tokens"
_UNIT_COLUMNS = """
    p.id, p.path, r.path, p.language, p.package, p.exports, p.tail, p.kin
    FROM paths p LEFT JOIN roots r ON r.id = p.root WHERE p.tail IS NOT NULL"""
UNITS = f"SELECT {_UNIT_COLUMNS}"
UNIT = f"SELECT {_UNIT_COLUMNS} AND p.path = ?"
UNIT_OF = f"SELECT {_UNIT_COLUMNS} AND p.id = ?"
UNITS_OF_TAIL = f"SELECT {_UNIT_COLUMNS} AND p.tail = ?"
UNITS_OF_KIN = f"SELECT {_UNIT_COLUMNS} AND p.kin = ?"
MEMBERS = "SELECT id, key, kind, qualname IS NULL FROM nodes WHERE id BETWEEN ? AND ?"
ALL_MEMBERS = "SELECT id, key, kind, qualname IS NULL FROM nodes"
ALL_BINDINGS = "SELECT owner, name, module, target FROM bindings ORDER BY owner, place"
ALL_INHERITS = """
    SELECT owner, src, relation, line, dst, module, name, strategy, confidence FROM edges
    WHERE relation = 2 ORDER BY owner, place"""
GLOBALS = """
    SELECT p.path, n.key, n.kind FROM nodes n JOIN paths p ON p.id = n.id >> 40
    JOIN roots r ON r.id = p.root
    WHERE n.name = ? AND n.key = ? AND n.qualname IS NULL AND r.path = ?
    AND p.language IN ('c', 'cpp') LIMIT 17"""

# -- changes ---------------------------------------------------------------------------------------

ENQUEUE = "INSERT OR REPLACE INTO queue (path, reason) VALUES (?, ?)"
GENERATION = """
    SELECT (SELECT generation FROM queue WHERE path = :path),
           (SELECT generation FROM paths WHERE path = :path)"""
DEQUEUE = "DELETE FROM queue WHERE path = ? AND generation = ?"
OWNER = """
    SELECT p.id, p.state, k.tokens, r.path, p.hash, k.sketch, p.generation
    FROM paths p LEFT JOIN roots r ON r.id = p.root
    LEFT JOIN kept k ON k.owner = p.id WHERE p.path = ?"""
SKETCH = "SELECT k.sketch FROM paths p JOIN kept k ON k.owner = p.id WHERE p.path = ?"
INSERT_PATH = """
    INSERT INTO paths (path, root, state, asked, depth, extractor, language, generation,
                       skip_reason, reconciled_at, package)
    VALUES (?, ?, 0, 0, 0, '-', '', 0, '', 0, '')"""
UPDATE_PATH = """
    UPDATE paths SET root = ?, state = 0, hash = ?, size = ?, mtime_ns = ?, inode = ?, asked = ?,
        depth = ?, extractor = ?, language = ?, generation = ?, skip_reason = ?, reconciled_at = ?,
        package = ?, exports = ?, tail = ?, kin = ?, trouble = ''
        WHERE id = ?"""
REFRESH_PATH = """
    UPDATE paths SET state = 0, size = ?, mtime_ns = ?, inode = ?, generation = ?,
        reconciled_at = ?, trouble = '' WHERE path = ? AND state != 1"""
RETRACT_PATH = """
    UPDATE paths SET state = 1, size = NULL, mtime_ns = NULL, inode = NULL, depth = 0,
        generation = ?, skip_reason = '', reconciled_at = ?, tail = NULL, kin = NULL,
        trouble = '', exports = NULL, package = '' WHERE id = ?"""
KEEP = "INSERT OR REPLACE INTO kept VALUES (?, ?, NULL, ?)"
FORGET_TOKENS = "UPDATE kept SET tokens = NULL WHERE owner = ?"
DELETE_KEPT = "DELETE FROM kept WHERE owner = ?"
KEEP_PATH = """
    UPDATE paths SET state = 2, generation = ?, trouble = ?, reconciled_at = ? WHERE path = ?"""
DELETE_NODES = "DELETE FROM nodes WHERE id BETWEEN ? AND ?"
DELETE_EDGES = "DELETE FROM edges WHERE owner = ?"
DELETE_BINDINGS = "DELETE FROM bindings WHERE owner = ?"
DELETE_TOKEN = "DELETE FROM tokens WHERE token = ? AND owner = ?"
DELETE_PATH = "DELETE FROM paths WHERE id = ?"
INSERT_NODE = "INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_EDGE = "INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)"
INSERT_BINDING = "INSERT INTO bindings VALUES (?, ?, ?, ?, ?)"
INSERT_TOKEN = "INSERT OR IGNORE INTO tokens VALUES (?, ?)"
NODE_IDS = "SELECT id FROM nodes WHERE id BETWEEN ? AND ?"
OWNERS_OF_DST = "INSERT OR IGNORE INTO unsettled_paths SELECT owner FROM edges WHERE dst = ?"
UNBIND_DST = "UPDATE edges SET dst = NULL, via = NULL, sure = NULL WHERE dst = ?"
UNSETTLE_PATH = "INSERT OR IGNORE INTO unsettled_paths VALUES (?)"
UNSETTLE_TOKEN = "INSERT OR IGNORE INTO unsettled_tokens VALUES (?)"
ADD_ROOT = """
    INSERT INTO roots (path, depth, added_at) VALUES (?, ?, ?)
    ON CONFLICT (path) DO UPDATE SET depth = excluded.depth"""
EVERYTHING_WAITS = "SELECT 1 FROM unsettled_paths WHERE owner = 0"
NOTHING_BOUND = (
    "SELECT NOT EXISTS (SELECT 1 FROM tokens) AND NOT EXISTS (SELECT 1 FROM unsettled_paths)"
)
ADOPT = """
    UPDATE paths SET root = :new WHERE path >= :first AND path < :last AND root = :old"""
ROOT_IDS = "SELECT id, path FROM roots"
ROOT_ID = "SELECT id FROM roots WHERE path = ?"
PATHS_OF_ROOT = """
    SELECT p.id, p.path, k.tokens FROM paths p LEFT JOIN kept k ON k.owner = p.id
    WHERE p.root = ? ORDER BY p.path"""
DELETE_ROOT = "DELETE FROM roots WHERE id = ?"
DELETE_SKIPS = "DELETE FROM skips WHERE root = ?"
INSERT_SKIP = "INSERT OR REPLACE INTO skips VALUES (?, ?, ?)"
ADD_STORE = "INSERT OR REPLACE INTO stores VALUES (?, ?, ?)"
REMOVE_STORE = "DELETE FROM stores WHERE path = ?"
RECORD_MOVE = "INSERT OR REPLACE INTO moves VALUES (?, ?, ?, ?)"
SET_PASS = "UPDATE meta SET value = ? WHERE key = 'pass'"
OLD_PATHS = "SELECT id FROM paths WHERE state = 1 AND reconciled_at < ?"
CARRIED = {
    "SELECT path, depth, added_at FROM roots": (
        "INSERT INTO roots (path, depth, added_at) VALUES (?, ?, ?)"
    ),
    "SELECT path, root, seen_at FROM stores": (
        "INSERT INTO stores (path, root, seen_at) VALUES (?, ?, ?)"
    ),
}
TABLES = """
    SELECT name, coalesce(sql, '') FROM sqlite_master
    WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"""
OBJECTS = """
    SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view')
    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"""
WIPE = tuple(
    f"DELETE FROM {table}"
    for table in (
        "paths",
        "kept",
        "nodes",
        "edges",
        "bindings",
        "tokens",
        "unsettled_paths",
        "unsettled_tokens",
        "queue",
        "moves",
        "skips",
    )
)
OLD_MOVES = "DELETE FROM moves WHERE at < ?"

# -- what came and went ----------------------------------------------------------------------------

UNFOLLOW = "INSERT OR IGNORE INTO unfollowed VALUES (?, ?, ?, ?)"
UNFOLLOWED = """
    SELECT u.owner, p.path, coalesce(r.path, x''), p.state, p.hash, p.size, p.generation, u.read,
           u.hash, u.sketch
    FROM unfollowed u JOIN paths p ON p.id = u.owner LEFT JOIN roots r ON r.id = p.root
    ORDER BY p.path"""
FOLLOWED = "DELETE FROM unfollowed"
ANY_GONE = "SELECT EXISTS (SELECT 1 FROM paths WHERE state = 1)"
ROOTS_SIZES = """
    SELECT coalesce(r.path, x''), count(*) FROM paths p LEFT JOIN roots r ON r.id = p.root
    GROUP BY p.root"""
KEPT_SKETCH = "SELECT sketch FROM kept WHERE owner = ?"
GONE_BY_DIGEST = """
    SELECT p.id FROM paths p WHERE p.hash = ? AND p.state = 1
    AND NOT EXISTS (SELECT 1 FROM moves m WHERE m.old = p.path AND m.at >= p.reconciled_at)
    LIMIT ?"""
END = """
    SELECT p.id, p.path, coalesce(r.path, x''), p.state, p.hash, p.size, p.generation,
           p.generation, coalesce(l.born, 0)
    FROM paths p LEFT JOIN roots r ON r.id = p.root LEFT JOIN loose l ON l.owner = p.id
    WHERE p.id = ?"""
PRESENT_BY_DIGEST = "SELECT id FROM paths WHERE hash = ? AND state = 0 ORDER BY path LIMIT ?"
LOOSE_BY_PIECE = "SELECT owner FROM telling WHERE piece = ? LIMIT ?"
IS_LOOSE = "SELECT EXISTS (SELECT 1 FROM loose)"
LOOSEN = "INSERT OR REPLACE INTO loose VALUES (?, ?, ?)"
TELL = "INSERT OR IGNORE INTO telling VALUES (?, ?)"
TIE = "DELETE FROM loose WHERE owner = ?"
UNTELL = "DELETE FROM telling WHERE owner = ?"
OLD_LOOSE = "SELECT owner FROM loose WHERE at < ? OR owner NOT IN (SELECT id FROM paths)"
DEFINED = """
    SELECT key, kind, name FROM nodes WHERE id BETWEEN ? AND ? AND key != '' ORDER BY place"""
KEPT_SHAPES = "SELECT shapes FROM kept WHERE owner = ?"
DRIFT = "INSERT OR REPLACE INTO adrift VALUES (?, ?, ?, ?, ?, ?, NULL)"
ADRIFT_OF = "SELECT key FROM adrift WHERE owner = ? AND gone = ?"
STAYED = "DELETE FROM adrift WHERE owner = ? AND key = ? AND gone = ?"
_ADRIFT = """
    SELECT a.rowid, p.path, p.root, a.key, a.gone, a.kind, a.name, a.shape
    FROM adrift a JOIN paths p ON p.id = a.owner"""
ADRIFT_NEW = f"{_ADRIFT} WHERE a.at IS NULL AND a.gone = ? ORDER BY p.path, a.key"
ADRIFT_LIKE = f"{_ADRIFT} WHERE substr(a.shape, 2, 8) = ? AND a.gone = ? LIMIT ?"
ADRIFT_NAMED = f"{_ADRIFT} WHERE a.name = ? AND a.gone = ? LIMIT ?"
ANY_ADRIFT = "SELECT EXISTS (SELECT 1 FROM adrift WHERE gone = 1)"
ADRIFT_SEEN = "UPDATE adrift SET at = ? WHERE at IS NULL"
ASHORE = "DELETE FROM adrift WHERE rowid = ?"
OLD_ADRIFT = "DELETE FROM adrift WHERE at < ? OR owner NOT IN (SELECT id FROM paths)"
RECORD_SYMBOL_MOVE = "INSERT OR REPLACE INTO symbol_moves VALUES (?, ?, ?, ?, ?, ?)"
SYMBOL_MOVES_FROM = """
    SELECT old, symbol, new, now, similarity, at FROM symbol_moves WHERE old = ? AND symbol = ?
    ORDER BY at DESC, new, now"""
OLD_SYMBOL_MOVES = "DELETE FROM symbol_moves WHERE at < ?"
CLEAR_ORPHANS = tuple(
    f"DELETE FROM {table} WHERE owner NOT IN (SELECT id FROM paths)"
    for table in ("unfollowed", "loose", "telling", "adrift")
)
