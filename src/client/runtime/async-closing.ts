/** A resource that `await using` closes, if the program's TypeScript supports that. */
export type AsyncClosing = SymbolConstructor extends { readonly asyncDispose: infer S extends symbol }
  ? { readonly [K in S]: () => Promise<void> }
  : object;

/** The symbol of `await using`, or the one that transpilers use where the runtime lacks it, as in contexts of Node 20. */
export const asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
