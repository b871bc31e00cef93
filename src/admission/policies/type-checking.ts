/** Type checking of stored policies: warnings about expressions that cannot hold for the kinds that they are for. */
import type { ObjectType } from '../../cel/index.ts';
import { type GroupVersionKind, parseGroupVersion, type Steps } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  ExpressionWarning,
  NamedRuleWithOperations,
  ValidatingAdmissionPolicySpec,
} from '../../types/admissionregistration-v1.ts';
import { ExpressionCompiler, ExpressionFault } from '../expressions/compile.ts';

/** Finds the types of kinds. */
export interface TypeLookup {
  /** Undefined: the resource is not served in this version. */
  readonly kindOf: (group: string, version: string, resource: string) => GroupVersionKind | undefined;
  /** Undefined: nothing is known of its objects. */
  readonly typeOf: (kind: GroupVersionKind) => ObjectType | undefined;
}

/** Maximum number of kinds for which expressions are checked. */
const maxKinds = 10;

/** The warnings about the expressions of a policy, one for each field: its parts are about one kind each. In steps. */
export function* checkTypes(
  spec: ValidatingAdmissionPolicySpec,
  types: TypeLookup,
): Steps<Infer<typeof ExpressionWarning>[]> {
  const { paramKind, variables = [], validations = [] } = spec;
  const parameters = paramKind === undefined ? undefined : parameterKind(paramKind);
  const paramsType = parameters && types.typeOf(parameters);
  const found = new Map<string, string[]>();
  for (const kind of kindsToCheck(spec.matchConstraints?.resourceRules ?? [], types)) {
    const objectType = types.typeOf(kind);
    if (objectType === undefined) continue;
    const compiler = new ExpressionCompiler({
      params: parameters !== undefined,
      composed: variables.length > 0,
      objectType,
      ...(paramsType === undefined ? {} : { paramsType }),
    });
    for (const { name = '', expression = '' } of variables) {
      yield;
      yield* compiler.addVariableInSteps(name, expression, true);
    }
    for (const [i, { expression = '', messageExpression = '' }] of validations.entries()) {
      for (const [field, source] of Object.entries({ expression, messageExpression })) {
        if (source === '') continue;
        yield;
        const compiled = yield* compiler.compileInSteps(source, { isStored: true });
        if (!(compiled instanceof ExpressionFault) || compiled.isInternal) continue;
        const path = `spec.validations[${i}].${field}`;
        const parts = found.get(path) ?? [];
        found.set(path, parts);
        parts.push(`${kind.group}/${kind.version}, Kind=${kind.kind}: ${compiled.detail}\n`);
      }
    }
  }
  return inOrder(found, validations.length);
}

/** The warnings in the order of the validations: later kinds may be the first with one about an earlier expression. */
function inOrder(found: ReadonlyMap<string, readonly string[]>, count: number): Infer<typeof ExpressionWarning>[] {
  const warnings: Infer<typeof ExpressionWarning>[] = [];
  for (let i = 0; i < count; i++) {
    for (const field of ['expression', 'messageExpression']) {
      const fieldRef = `spec.validations[${i}].${field}`;
      const parts = found.get(fieldRef);
      if (parts !== undefined) warnings.push({ fieldRef, warning: parts.join('\n') });
    }
  }
  return warnings;
}

function parameterKind({ apiVersion = '', kind = '' }: { readonly apiVersion?: string; readonly kind?: string }) {
  const parsed = parseGroupVersion(apiVersion);
  return parsed && { ...parsed, kind };
}

/** The kinds that rules name, sorted. Rules with wildcards name none. */
function kindsToCheck(rules: readonly Infer<typeof NamedRuleWithOperations>[], types: TypeLookup): GroupVersionKind[] {
  const kinds = new Map<string, GroupVersionKind>();
  for (const rule of rules) {
    const { apiGroups: groups = [], apiVersions: versions = [] } = rule;
    if ([...groups, ...versions].some((name) => name.includes('*'))) continue;
    const resources = (rule.resources ?? []).filter((name) => !/[*/]/.test(name));
    let count = 0;
    for (const group of groups.toSorted()) {
      for (const version of versions.toSorted()) {
        for (const resource of resources.toSorted()) {
          const kind = types.kindOf(group, version, resource);
          if (kind === undefined) continue;
          kinds.set(`${kind.group}\0${kind.version}\0${kind.kind}`, kind);
          count++;
          if (count === maxKinds) return sorted(kinds);
        }
      }
    }
  }
  return sorted(kinds);
}

const sorted = (kinds: ReadonlyMap<string, GroupVersionKind>): GroupVersionKind[] =>
  [...kinds.keys()].sort().flatMap((key) => kinds.get(key) ?? []);
