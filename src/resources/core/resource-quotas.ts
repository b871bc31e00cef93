import { errorsOfEach, type FieldError, fieldError, immutable, type Names } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { ResourceQuota, type ResourceQuotaSpec } from '../../types/core-v1.ts';
import { roundQuantities } from '../pod-template/resource-list.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { isForQuota, validateQuotaAmount } from './quota-resource-names.ts';

export const resourceQuotas = resource({
  group: '',
  plural: 'resourcequotas',
  kind: 'ResourceQuota',
  schema: ResourceQuota,
  lifecycle: { introduced: '1.0' },
  shortNames: ['quota'],
  status: true,
  columns: [name, ['Request', (quota) => usage(quota, false)], ['Limit', (quota) => usage(quota, true)], age],
  strategy: {
    metadataChecks: [0, 1],
    returnsDeleted: true,
    defaults: ({ spec, status }) => {
      for (const amounts of [spec?.hard, status?.hard, status?.used]) roundQuantities(amounts);
    },
    validate: ({ spec = {}, status = {} }, { names }) => [
      ...validateAmounts(spec.hard, 'spec.hard', names),
      ...validateScopes(spec),
      ...validateSelector(spec),
      ...validateAmounts(status.hard, 'status.hard', names),
      ...validateAmounts(status.used, 'status.used', names),
    ],
    validateUpdate: ({ spec }, old) => {
      const scopes = spec?.scopes ?? [];
      const [now, before] = [new Set(scopes), new Set(old.spec?.scopes)];
      const same = now.size === before.size && [...now].every((scope) => before.has(scope));
      return same ? [] : [immutable('spec.scopes', scopes)];
    },
  },
});

/** `name: used/hard` for each resource, of `limits.*` or of all others. */
function usage({ status }: ObjectOf<typeof ResourceQuota>, limits: boolean): string {
  return Object.entries(status?.hard ?? {})
    .filter(([resource]) => resource.startsWith('limits.') === limits)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([resource, hard]) => `${resource}: ${status?.used?.[resource] ?? '0'}/${hard}`)
    .join(', ');
}

const validateAmounts = (
  amounts: { [resource: string]: string } | undefined,
  path: string,
  names: Names,
): FieldError[] =>
  errorsOfEach(Object.entries(amounts ?? {}), ([resource, amount]) =>
    validateQuotaAmount(resource, amount, `${path}[${resource}]`, names),
  );

const computed = ['pods', 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];

/** The standard resources that each scope supports. */
const scopes: { readonly [scope: string]: readonly string[] } = {
  Terminating: computed,
  NotTerminating: computed,
  NotBestEffort: computed,
  PriorityClass: computed,
  CrossNamespacePodAffinity: computed,
  BestEffort: ['pods'],
  VolumeAttributesClass: ['persistentvolumeclaims', 'requests.storage'],
};

/** Pairs of scopes that exclude each other. */
const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

const isScope = (scope: string): boolean => Object.hasOwn(scopes, scope);

/** Returns a function that lists the quota entries a scope does not support. */
function unsupportedBy(hard: ResourceQuotaSpec['hard']): (scope: string) => readonly string[] {
  const limited = Object.keys(hard ?? {}).filter(isForQuota);
  const scopesByResource = new Map<string, readonly string[]>();
  return (scope) => {
    const unsupportedFor =
      scopesByResource.get(scope) ?? limited.filter((name) => isScope(scope) && !scopes[scope]?.includes(name));
    scopesByResource.set(scope, unsupportedFor);
    return unsupportedFor;
  };
}

const conflicts = (scopeNames: readonly string[]) =>
  opposites.filter((pair) => pair.every((one) => scopeNames.includes(one)));

function validateScopes({ hard, scopes: given = [] }: ResourceQuotaSpec): FieldError[] {
  const path = 'spec.scopes';
  const unsupportedFor = unsupportedBy(hard);
  const refuse = (why: string) => fieldError.invalid(path, given, why);
  return [
    ...given.flatMap((scope) => [
      ...(isScope(scope) ? [] : [refuse('unsupported scope')]),
      ...unsupportedFor(scope).map(() => refuse('unsupported scope applied to resource')),
    ]),
    ...conflicts(given).map(() => refuse('conflicting scopes')),
  ];
}

const whole = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];

function validateSelector({ hard, scopes: given, scopeSelector }: ResourceQuotaSpec): FieldError[] {
  if (scopeSelector === undefined) return [];
  const path = 'spec.scopeSelector.matchExpressions';
  const expressions = scopeSelector.matchExpressions ?? [];
  const printedValue = {
    MatchExpressions: expressions.map(({ scopeName = '', operator = '', values }) => ({
      ScopeName: scopeName,
      Operator: operator,
      Values: values ?? null,
    })),
  };
  const unsupportedFor = unsupportedBy(hard);
  const errors = expressions.flatMap((expression) => [
    ...unsupportedFor(expression.scopeName ?? '').map(() =>
      fieldError.invalid(path, printedValue, 'unsupported scope applied to resource'),
    ),
    ...validateExpression(expression, path),
  ]);
  const clashes = conflicts(expressions.map(({ scopeName = '' }) => scopeName));
  return [...errors, ...clashes.map(() => fieldError.invalid(path, given ?? null, 'conflicting scopes'))];
}

function validateExpression(
  { scopeName: scope = '', operator = '', values = [] }: { scopeName?: string; operator?: string; values?: string[] },
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (!isScope(scope)) errors.push(fieldError.invalid(`${path}.scopeName`, scope, 'unsupported scope'));
  if (whole.includes(scope) && operator !== 'Exists') {
    const why =
      "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
    errors.push(fieldError.invalid(`${path}.operator`, operator, why));
  }
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length > 0) return errors;
    const why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    return [...errors, fieldError.required(`${path}.values`, why)];
  }
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length === 0) return errors;
    const why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    return [...errors, fieldError.invalid(`${path}.values`, values, why)];
  }
  return [...errors, fieldError.invalid(`${path}.operator`, operator, 'not a valid selector operator')];
}
