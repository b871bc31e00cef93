/** The beta versions of flow schemas and priority levels. */
import { type ApiObject, annotationOf, at, expandNames, isJsonObject, type Names } from '../../meta/index.ts';
import type { Lifecycle } from '../../registry/index.ts';
import { field, int32, list } from '../../schema/index.ts';
import * as v1 from '../../types/flowcontrol-v1.ts';
import type { OlderKind, OlderVersion } from './declare.ts';
import { typesIn } from './types.ts';

const group = 'flowcontrol.apiserver.{domain}';

const DEFAULT_SHARES = 30;

/** In an object of a beta version: its 0 shares are intended, not absent. */
const zeroShares = 'flowcontrol.{domain}/v1beta3-preserve-zero-concurrency-shares';

const { limitResponse, lendablePercent, borrowingLimitPercent } = v1.LimitedPriorityLevelConfiguration.fields;
const { conditions: flowConditions } = v1.FlowSchemaStatus.fields;
const { conditions: levelConditions } = v1.PriorityLevelConfigurationStatus.fields;
const byType = { listType: 'map', listMapKeys: ['type'], duplicates: true } as const;

/** The structs of v1beta1 and v1beta2 that differ from v1. */
const assured = {
  LimitedPriorityLevelConfiguration: {
    assuredConcurrencyShares: field(1, int32, { always: true }),
    limitResponse,
    lendablePercent,
    borrowingLimitPercent,
  },
  FlowSchemaStatus: { conditions: field(1, list(flowConditions.schema.element), byType) },
  PriorityLevelConfigurationStatus: { conditions: field(1, list(levelConditions.schema.element), byType) },
};

const types = {
  v1beta3: typesIn('flowcontrol/v1beta3', {
    LimitedPriorityLevelConfiguration: {
      nominalConcurrencyShares: field(1, int32, { always: true }),
      limitResponse,
      lendablePercent,
      borrowingLimitPercent,
    },
  }),
  v1beta2: typesIn('flowcontrol/v1beta2', assured),
  v1beta1: typesIn('flowcontrol/v1beta1', assured),
};
const releases: { readonly [V in keyof typeof types]: Omit<Lifecycle, 'replacement'> } = {
  v1beta3: { introduced: '1.26', deprecated: '1.29', removed: '1.32' },
  v1beta2: { introduced: '1.23', deprecated: '1.26', removed: '1.29' },
  v1beta1: { introduced: '1.20', deprecated: '1.23', removed: '1.26' },
};

/** v1beta3 replaces both versions before it. */
const lifecycle = (version: keyof typeof types, kind: string): Lifecycle => ({
  ...releases[version],
  replacement: `${group}/${version === 'v1beta3' ? 'v1' : 'v1beta3'} ${kind}`,
});

const versions = ['v1beta3', 'v1beta2', 'v1beta1'] as const;

function levels(version: keyof typeof types): OlderVersion {
  const shares = version === 'v1beta3' ? 'nominalConcurrencyShares' : 'assuredConcurrencyShares';
  return {
    version,
    schema: types[version](v1.PriorityLevelConfiguration),
    lifecycle: lifecycle(version, 'PriorityLevelConfiguration'),
    onByDefault: true,
    changes: [{ older: `spec.limited.${shares}`, stored: 'spec.limited.nominalConcurrencyShares' }],
    defaults: (level, names) => defaultShares(level, shares, names),
    marks: [
      { annotation: zeroShares, when: (level) => at(level, 'spec', 'limited', 'nominalConcurrencyShares') === 0 },
    ],
  };
}

function defaultShares(level: ApiObject, shares: string, names: Names): void {
  const limited = at(level, 'spec', 'limited');
  if (!isJsonObject(limited) || limited[shares] !== 0) return;
  if (annotationOf(level, expandNames(zeroShares, names)) === undefined) limited[shares] = DEFAULT_SHARES;
}

export const flowcontrol: readonly OlderKind[] = [
  {
    group,
    plural: 'flowschemas',
    versions: versions.map((version) => ({
      version,
      schema: types[version](v1.FlowSchema),
      lifecycle: lifecycle(version, 'FlowSchema'),
      onByDefault: true,
    })),
  },
  { group, plural: 'prioritylevelconfigurations', versions: versions.map(levels) },
];
