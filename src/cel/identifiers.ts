/** Converts between JSON property names and identifiers of expressions. */

const reserved = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var void ' +
    'while'
  ).split(' '),
);

const escapes: { readonly [part: string]: string } = { __: 'underscores', '.': 'dot', '-': 'dash', '/': 'slash' };
const unescapes = new Map(Object.entries(escapes).map(([part, word]) => [word, part]));

/** Returns the identifier of a property: `a__dash__b` for `a-b`, `__in__` for `in`; undefined when it cannot have one. */
export function identifierOf(property: string): string | undefined {
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(property)) return undefined;
  if (reserved.has(property)) return `__${property}__`;
  return property.replace(/__|[./-]/g, (part) => `__${escapes[part]}__`);
}

/**
 * The property of an identifier; undefined when none has it. A reserved word can be selected as it is, although it cannot
 * be a variable; that it is a literal or an operator in some places is left to the parser.
 */
export function propertyOf(identifier: string): string | undefined {
  const word = /^__([a-z]+)__$/.exec(identifier)?.[1];
  const property =
    word !== undefined && reserved.has(word)
      ? word
      : identifier.replace(/__([^_]+)__/g, (whole, part: string) => unescapes.get(part) ?? whole);
  return reserved.has(identifier) || identifierOf(property) === identifier ? property : undefined;
}
