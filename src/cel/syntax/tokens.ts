/** The tokens of the grammar, numbered in the order in which messages list them. */
export const Token = {
  equals: 1,
  notEquals: 2,
  in: 3,
  less: 4,
  lessEquals: 5,
  greaterEquals: 6,
  greater: 7,
  and: 8,
  or: 9,
  leftBracket: 10,
  rightBracket: 11,
  leftBrace: 12,
  rightBrace: 13,
  leftParenthesis: 14,
  rightParenthesis: 15,
  dot: 16,
  comma: 17,
  minus: 18,
  not: 19,
  question: 20,
  colon: 21,
  plus: 22,
  times: 23,
  divide: 24,
  remainder: 25,
  true: 26,
  false: 27,
  null: 28,
  float: 29,
  int: 30,
  uint: 31,
  string: 32,
  bytes: 33,
  identifier: 34,
  escapedIdentifier: 35,
  end: 36,
} as const;

/** How messages name a token of a kind. */
export const tokenNames: readonly string[] = [
  '',
  ...["'=='", "'!='", "'in'", "'<'", "'<='", "'>='", "'>'", "'&&'", "'||'"],
  ...["'['", "']'", "'{'", "'}'", "'('", "')'", "'.'", "','", "'-'", "'!'", "'?'", "':'", "'+'", "'*'", "'/'", "'%'"],
  ...["'true'", "'false'", "'null'"],
  ...['NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES', 'IDENTIFIER', 'ESC_IDENTIFIER', '<EOF>'],
];

/** The functions of binary operators; undefined for other tokens. */
export const binaryFunctions: readonly (string | undefined)[] = [
  undefined,
  ...['_==_', '_!=_', '@in', '_<_', '_<=_', '_>=_', '_>_'],
  ...new Array<undefined>(14).fill(undefined),
  ...['_+_', '_*_', '_/_', '_%_'],
];

/** Identifiers that are not names of variables and functions; they are names of fields. */
export const reservedIdentifiers: ReadonlySet<string> = new Set([
  ...['as', 'break', 'const', 'continue', 'else', 'false', 'for', 'function', 'if', 'import', 'in', 'let', 'loop'],
  ...['package', 'namespace', 'null', 'return', 'true', 'var', 'void', 'while'],
]);
