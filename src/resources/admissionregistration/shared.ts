/** The parts that the kinds of the group share. */
import type { ObjectMeta } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { MatchResources, ParamKind, ParamRef } from '../../types/admissionregistration-v1.ts';
import { age, name } from '../shared/columns.ts';
import type { ColumnDeclaration } from '../shared/define.ts';
import { defaultMatch } from './match-resources.validation.ts';

export const groupDefaults = {
  group: 'admissionregistration.{domain}',
  categories: ['api-extensions'],
  namespaced: false,
  followed: true,
} as const;

export const strategyDefaults = { bareFinalizers: true, generation: true, unconditionalUpdate: false } as const;

interface Policy {
  spec?: { failurePolicy?: string; matchConstraints?: MatchResources; paramKind?: Infer<typeof ParamKind> };
}

/** Fills in the defaults of an admission policy. */
export function defaultPolicy(policy: Policy): void {
  policy.spec ??= {};
  policy.spec.failurePolicy ??= 'Fail';
  defaultMatch(policy.spec.matchConstraints);
}

/** `apiVersion/kind` of a policy's parameters. */
export const paramKindColumn: ColumnDeclaration<Policy> = [
  'ParamKind',
  ({ spec }) => (spec?.paramKind === undefined ? '<unset>' : `${spec.paramKind.apiVersion}/${spec.paramKind.kind}`),
];

interface PolicyBinding {
  metadata: ObjectMeta;
  spec?: { policyName?: string; paramRef?: Infer<typeof ParamRef> };
}

export const bindingColumns: readonly ColumnDeclaration<PolicyBinding>[] = [
  name,
  ['PolicyName', ({ spec }) => spec?.policyName ?? ''],
  ['ParamRef', ({ spec }) => formatParamRef(spec?.paramRef)],
  age,
];

/** `namespace/name` of a binding's parameters. */
function formatParamRef(ref: Infer<typeof ParamRef> | undefined): string {
  if (ref === undefined) return '<unset>';
  if (!ref.name) return '*';
  return ref.namespace ? `${ref.namespace}/${ref.name}` : `*/${ref.name}`;
}

export const webhookColumns: readonly ColumnDeclaration<{ metadata: ObjectMeta; webhooks?: readonly unknown[] }>[] = [
  name,
  ['Webhooks', ({ webhooks }) => webhooks?.length ?? 0, 'integer'],
  age,
];
