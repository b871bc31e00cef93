/** What `await using` closes, where the program's TypeScript knows that. */
export type AsyncClosing = SymbolConstructor extends { readonly asyncDispose: infer S extends symbol }
  ? { readonly [K in S]: () => Promise<void> }
  : object;

/** The symbol of `await using`, and that by which transpilers spell it where there is none, as in contexts of Node 20. */
export const asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
