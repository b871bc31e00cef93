/** The macros: calls that the parser replaces with other trees. */
import type { Expr } from '../ast.ts';
import type { Nodes } from './nodes.ts';

/** Optional sets of macros. */
export type MacroSet = 'twoVariable' | 'optional' | 'bindings' | 'math';

interface Macro {
  readonly member: boolean;
  /** The number of arguments; undefined: any. */
  readonly arity: number | undefined;
  readonly set: 'standard' | MacroSet;
  /** Undefined: the call is not one of the macro. */
  readonly expand: (site: Site) => Expr | undefined;
}

interface Site {
  readonly nodes: Nodes;
  readonly offset: number;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

/** The name of the accumulator of comprehensions. No source can name it. */
const accumulator = '@result';
/** The name of the iteration variable where there is nothing to iterate. */
const unused = '#unused';

/** The tree of a call of a macro; undefined: it is none. */
export function expandMacro(name: string, site: Site, sets: ReadonlySet<MacroSet>): Expr | undefined {
  const variants = macros.get(name);
  if (variants === undefined) return undefined;
  const member = site.target !== undefined;
  for (const macro of variants) {
    if (macro.member !== member || (macro.arity !== undefined && macro.arity !== site.args.length)) continue;
    if (macro.set === 'standard' || sets.has(macro.set)) return macro.expand(site);
  }
  return undefined;
}

function has({ nodes, offset, args }: Site): Expr {
  const argument = args[0]!;
  if (argument.kind !== 'select') return nodes.invalid(argument.offset, 'invalid argument to has() macro');
  return nodes.select(offset, argument.operand, argument.field, true);
}

/** The fold of a comprehension. */
interface Fold {
  readonly initial: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** A macro over a range with one or two variables, and then `rest` arguments. */
function fold(macro: string, variables: 1 | 2, wrongName: string, make: (site: Site, rest: readonly Expr[]) => Fold) {
  return (site: Site): Expr => {
    const { nodes, offset, target, args } = site;
    const names: string[] = [];
    for (const variable of args.slice(0, variables)) {
      if (variable.kind !== 'identifier') return nodes.invalid(variable.offset, wrongName);
      names.push(variable.name);
    }
    const [variable, second] = names;
    if (variable === second) return nodes.invalid(args[1]!.offset, `duplicate variable name: ${variable}`);
    const hidden = names.findIndex((name) => name === accumulator || name === '__result__');
    if (hidden !== -1) {
      return nodes.invalid(args[hidden]!.offset, 'iteration variable overwrites accumulator variable');
    }
    const parts = make(site, args.slice(variables));
    return nodes.comprehension(offset, { macro, variable: variable!, second, range: target!, accumulator, ...parts });
  };
}

const accumulated = ({ nodes, offset }: Site): Expr => nodes.identifier(offset, accumulator);
const boolean = ({ nodes, offset }: Site, value: boolean): Expr => nodes.literal(offset, { type: 'bool', value });
const integer = ({ nodes, offset }: Site, value: bigint): Expr => nodes.literal(offset, { type: 'int', value });
const call = ({ nodes, offset }: Site, name: string, ...args: Expr[]): Expr => nodes.call(offset, name, args);
const list = ({ nodes, offset }: Site, ...elements: Expr[]): Expr => nodes.list(offset, elements);

const all = (site: Site, [predicate]: readonly Expr[]): Fold => ({
  initial: boolean(site, true),
  condition: call(site, '@not_strictly_false', accumulated(site)),
  step: call(site, '_&&_', accumulated(site), predicate!),
  result: accumulated(site),
});

const exists = (site: Site, [predicate]: readonly Expr[]): Fold => ({
  initial: boolean(site, false),
  condition: call(site, '@not_strictly_false', call(site, '!_', accumulated(site))),
  step: call(site, '_||_', accumulated(site), predicate!),
  result: accumulated(site),
});

const existsOne = (site: Site, [predicate]: readonly Expr[]): Fold => {
  const next = call(site, '_+_', accumulated(site), integer(site, 1n));
  return {
    initial: integer(site, 0n),
    condition: boolean(site, true),
    step: call(site, '_?_:_', predicate!, next, accumulated(site)),
    result: call(site, '_==_', accumulated(site), integer(site, 1n)),
  };
};

/** A fold that adds to its accumulator in each step, or where a filter holds. */
function collect(site: Site, initial: Expr, filter: Expr | undefined, added: Expr): Fold {
  const step = filter === undefined ? added : call(site, '_?_:_', filter, added, accumulated(site));
  return { initial, condition: boolean(site, true), step, result: accumulated(site) };
}

/** `map` and `transformList`: `[filter,] transform`. */
function transformList(site: Site, rest: readonly Expr[]): Fold {
  const transform = rest[rest.length - 1]!;
  const added = call(site, '_+_', accumulated(site), list(site, transform));
  return collect(site, list(site), rest.length === 2 ? rest[0] : undefined, added);
}

const filter = (site: Site, [predicate]: readonly Expr[]): Fold =>
  collect(site, list(site), predicate, call(site, '_+_', accumulated(site), list(site, site.args[0]!)));

/** `transformMap` and, where the transform gives entries, `transformMapEntry`. */
const transformMap =
  (entries: boolean) =>
  (site: Site, rest: readonly Expr[]): Fold => {
    const { nodes, offset, args } = site;
    const transform = rest[rest.length - 1]!;
    const variable = args[0]!;
    const key = variable.kind === 'identifier' ? variable.name : '';
    const added = entries
      ? call(site, 'cel.@mapInsert', accumulated(site), transform)
      : call(site, 'cel.@mapInsert', accumulated(site), nodes.identifier(offset, key), transform);
    return collect(site, nodes.map(offset, []), rest.length === 2 ? rest[0] : undefined, added);
  };

/** A comprehension that iterates nothing and computes its result with a variable of a value. */
function bind(site: Site, macro: string, name: string, initial: Expr, result: Expr): Expr {
  const { nodes, offset } = site;
  return nodes.comprehension(offset, {
    macro,
    variable: unused,
    second: undefined,
    range: list(site),
    accumulator: name,
    initial,
    condition: boolean(site, false),
    step: nodes.identifier(offset, name),
    result,
  });
}

const isNamespace = (target: Expr | undefined, name: string): boolean =>
  target?.kind === 'identifier' && target.name === name;

function celBind(site: Site): Expr | undefined {
  const [variable, initial, result] = site.args;
  if (!isNamespace(site.target, 'cel')) return undefined;
  if (variable!.kind !== 'identifier') {
    return site.nodes.invalid(variable!.offset, 'cel.bind() variable names must be simple identifiers');
  }
  return bind(site, 'bind', variable!.name, initial!, result!);
}

const optMap =
  (macro: 'optMap' | 'optFlatMap') =>
  (site: Site): Expr => {
    const { nodes, offset, args } = site;
    const target = site.target!;
    const variable = args[0]!;
    if (variable.kind !== 'identifier') {
      return nodes.invalid(variable.offset, `${macro}() variable name must be a simple identifier`);
    }
    const value = nodes.call(offset, 'value', [], nodes.copy(target));
    const bound = bind(site, macro, variable.name, value, args[1]!);
    const mapped = macro === 'optMap' ? call(site, 'optional.of', bound) : bound;
    return call(site, '_?_:_', nodes.call(offset, 'hasValue', [], target), mapped, call(site, 'optional.none'));
  };

/** `math.greatest` and `math.least`, as calls of one or two numbers or of a list. */
const extremum =
  (name: string, implementation: string) =>
  (site: Site): Expr | undefined => {
    const { nodes, target, args } = site;
    if (!isNamespace(target, 'math')) return undefined;
    if (args.length === 0) return nodes.invalid(target!.offset, `math.${name}() requires at least one argument`);
    if (args.length === 1) {
      const argument = args[0]!;
      const numbers = argument.kind === 'list' && argument.elements.length > 0 && argument.elements.every(mayBeNumber);
      if (numbers || mayBeNumber(argument)) return call(site, implementation, argument);
      return nodes.invalid(argument.offset, `math.${name}() invalid single argument value`);
    }
    const wrong = args.find((argument) => !mayBeNumber(argument));
    if (wrong !== undefined) {
      return nodes.invalid(wrong.offset, `math.${name}() simple literal arguments must be numeric`);
    }
    return args.length === 2 ? call(site, implementation, ...args) : call(site, implementation, list(site, ...args));
  };

function mayBeNumber(expr: Expr): boolean {
  if (expr.kind === 'literal') return ['int', 'uint', 'double'].includes(expr.value.type);
  return expr.kind !== 'list' && expr.kind !== 'map' && expr.kind !== 'object';
}

const simpleName = 'argument must be a simple name';
const notIdentifier = 'argument is not an identifier';

const member = (arity: number | undefined, set: Macro['set'], expand: Macro['expand']): Macro => ({
  member: true,
  arity,
  set,
  expand,
});
const one = (macro: string, make: Parameters<typeof fold>[3], wrongName = simpleName): Macro =>
  member(2, 'standard', fold(macro, 1, wrongName, make));
const two = (macro: string, make: Parameters<typeof fold>[3], arity = 3): Macro =>
  member(arity, 'twoVariable', fold(macro, 2, simpleName, make));
const twoFiltered = (macro: string, make: Parameters<typeof fold>[3]): readonly Macro[] => [
  two(macro, make),
  two(macro, make, 4),
];

const macros: ReadonlyMap<string, readonly Macro[]> = new Map([
  ['has', [{ member: false, arity: 1, set: 'standard', expand: has }]],
  ['all', [one('all', all), two('all', all)]],
  ['exists', [one('exists', exists), two('exists', exists)]],
  ['exists_one', [one('exists_one', existsOne), two('exists_one', existsOne)]],
  ['existsOne', [one('exists_one', existsOne), two('exists_one', existsOne)]],
  [
    'map',
    [one('map', transformList, notIdentifier), member(3, 'standard', fold('map', 1, notIdentifier, transformList))],
  ],
  ['filter', [one('filter', filter, notIdentifier)]],
  ['transformList', twoFiltered('transformList', transformList)],
  ['transformMap', twoFiltered('transformMap', transformMap(false))],
  ['transformMapEntry', twoFiltered('transformMapEntry', transformMap(true))],
  ['optMap', [member(2, 'optional', optMap('optMap'))]],
  ['optFlatMap', [member(2, 'optional', optMap('optFlatMap'))]],
  ['bind', [member(3, 'bindings', celBind)]],
  ['greatest', [member(undefined, 'math', extremum('greatest', 'math.@max'))]],
  ['least', [member(undefined, 'math', extremum('least', 'math.@min'))]],
]);
