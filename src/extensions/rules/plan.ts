/** The plan of the evaluation of a schema's rules. The rules of a node are compiled when the first value comes. */
import type { Program, ReadJson } from '../../cel/index.ts';
import type { Steps } from '../../meta/index.ts';
import type { Rule, Structural } from '../structural.ts';
import { compileRule } from './compile.ts';
import { minSizeOf } from './sizes.ts';
import { bindingOf } from './types.ts';

/** A rule ready for evaluation, or why it cannot be. */
export interface PlannedRule {
  readonly rule: Rule;
  readonly program: Program | undefined;
  readonly error: string | undefined;
  readonly message: Program | undefined;
  readonly usesOldSelf: boolean;
  readonly fieldPath: string;
}

/** The rules of a schema node, and the read of its values. */
export interface PlannedNode {
  readonly read: ReadJson;
  readonly rules: readonly PlannedRule[];
}

/** A schema node with rules at it or below. */
export class PlanNode {
  readonly structural: Structural;
  readonly properties: [name: string, node: PlanNode][] = [];
  items: PlanNode | undefined;
  values: PlanNode | undefined;
  /** It does not keep the schema of a definition that has gone. */
  readonly reference = new WeakRef<PlanNode>(this);
  readonly #isResource: boolean;
  #compiled: PlannedNode | undefined;

  constructor(structural: Structural, isResource: boolean) {
    this.structural = structural;
    this.#isResource = isResource;
  }

  get hasRules(): boolean {
    return this.structural.rules.length > 0;
  }

  /** Undefined until they are compiled. */
  get compiled(): PlannedNode | undefined {
    return this.#compiled;
  }

  /** Compiles the rules, in steps. They are kept until those of other nodes need the room. */
  *compile(): Steps<PlannedNode> {
    const { size, ...compiled } = yield* compile(this.structural, this.#isResource);
    this.#compiled = compiled;
    keep(this, size);
    return compiled;
  }

  /** The rules are compiled again when they are next needed. */
  forget(): void {
    this.#compiled = undefined;
  }
}

/** The total number of syntax tree nodes of cached programs; each node takes about 300 bytes. */
const maxKept = 120_000;
/** The cost of a schema node, in syntax tree nodes. */
const overhead = 10;
/** The schema nodes with cached programs, in the order of compilation, with their number of syntax tree nodes. */
const retained = new Map<WeakRef<PlanNode>, number>();
let keptSize = 0;

function keep(node: PlanNode, size: number): void {
  const { reference } = node;
  const all = size + overhead;
  keptSize += all - (retained.get(reference) ?? 0);
  retained.delete(reference);
  retained.set(reference, all);
  for (const [oldest, its] of retained) {
    if (keptSize <= maxKept) break;
    retained.delete(oldest);
    keptSize -= its;
    oldest.deref()?.forget();
  }
}

const plans = new WeakMap<Structural, { readonly plan: PlanNode | undefined }>();

/** The plan of a schema; undefined when it has no rules. */
export function planOf(structural: Structural, isResource: boolean): PlanNode | undefined {
  if (!structural.has.rules) return undefined;
  let cached = plans.get(structural);
  if (cached === undefined) {
    cached = { plan: makePlan(structural, isResource) };
    plans.set(structural, cached);
  }
  return cached.plan;
}

function makePlan(structural: Structural, isResource: boolean): PlanNode | undefined {
  const node = new PlanNode(structural, isResource);
  const { items, additionalProperties: values } = structural;
  const inner = (child: Structural) => planOf(child, child.embeddedResource);
  node.items = items && inner(items);
  node.values = values === undefined || values === true ? undefined : inner(values);
  for (const [name, property] of structural.properties) {
    const plan = inner(property);
    if (plan !== undefined && minSizeOf(property) !== undefined) node.properties.push([name, plan]);
  }
  const isNeeded = node.hasRules || node.items !== undefined || node.values !== undefined || node.properties.length > 0;
  return isNeeded ? node : undefined;
}

function* compile(structural: Structural, isResource: boolean): Steps<PlannedNode & { readonly size: number }> {
  const binding = bindingOf(structural, isResource, 'selfType');
  if (binding === undefined) return { read: () => null, rules: structural.rules.map(unusable), size: 0 };
  const rules: PlannedRule[] = [];
  let size = 0;
  for (const rule of structural.rules) {
    if (rules.length > 0) yield;
    const compiled = yield* compileRule(rule, structural, binding.type, undefined);
    const { expression, message, error, usesOldSelf, fieldPath } = compiled;
    size += (expression?.checked.typeOf.length ?? 0) + (message?.checked.typeOf.length ?? 0);
    rules.push({ rule, error, usesOldSelf, fieldPath, program: expression?.program, message: message?.program });
  }
  return { read: binding.read, rules, size };
}

/** A rule on values without a known type. */
const unusable = (rule: Rule): PlannedRule => ({
  rule,
  program: undefined,
  error: 'failed to convert to declType for CEL validation rules',
  message: undefined,
  usesOldSelf: false,
  fieldPath: '',
});
