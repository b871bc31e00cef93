/** The beta versions of workloads. */
import { type ApiObject, at, type FieldError, fieldError, isJsonObject, type Json } from '../../meta/index.ts';
import type { Lifecycle, Strategy } from '../../registry/index.ts';
import { type Fields, field, int64, type StructSchema } from '../../schema/index.ts';
import * as v1 from '../../types/apps-v1.ts';
import { annotated } from './annotated-fields.ts';
import type { OlderKind, OlderVersion } from './declare.ts';
import { rollback, rollbackConfig } from './rollback.ts';
import { olderScale } from './scale.ts';
import { typesIn } from './types.ts';

const optional = ({ selector, ...fields }: Fields): Fields =>
  selector === undefined ? fields : { ...fields, selector: { ...selector, required: false, always: false } };

const { observedGeneration } = v1.StatefulSetStatus.fields;

/** The types of a version in which the selector is optional. */
const typesOf = (groupVersion: string) =>
  typesIn(groupVersion, {
    DeploymentSpec: {
      ...optional(v1.DeploymentSpec.fields),
      rollbackTo: field(8, rollbackConfig(groupVersion), { nullable: true }),
    },
    DaemonSetSpec: { ...optional(v1.DaemonSetSpec.fields), templateGeneration: field(5, int64) },
    ReplicaSetSpec: optional(v1.ReplicaSetSpec.fields),
    StatefulSetSpec: optional(v1.StatefulSetSpec.fields),
    StatefulSetStatus: {
      ...v1.StatefulSetStatus.fields,
      observedGeneration: { ...observedGeneration, nullable: true },
    },
  });

const types = {
  'apps/v1beta2': typesIn('apps/v1beta2'),
  'apps/v1beta1': typesOf('apps/v1beta1'),
  'extensions/v1beta1': typesOf('extensions/v1beta1'),
};

/** Labels and selector are by default those of the pod template. */
function setLabels(object: ApiObject): void {
  const { metadata, spec } = object;
  const labels = at(spec, 'template', 'metadata', 'labels');
  if (!isJsonObject(spec) || !isJsonObject(labels)) return;
  spec['selector'] ??= { matchLabels: { ...labels } };
  if (Object.keys(metadata.labels ?? {}).length === 0) {
    object.metadata = { ...metadata, labels: { ...labels } as { [key: string]: string } };
  }
}

/** Pods are replaced when they are deleted, where the object does not say otherwise. */
function setOnDelete(object: ApiObject): void {
  setLabels(object);
  const { spec } = object;
  if (!isJsonObject(spec)) return;
  const strategy = isJsonObject(spec['updateStrategy']) ? spec['updateStrategy'] : {};
  spec['updateStrategy'] = { ...strategy, type: strategy['type'] || 'OnDelete' };
}

const unlimited = 2 ** 31 - 1;

/** Rolling updates are by one pod, without a deadline, and all revisions remain. */
function setRollout(object: ApiObject): void {
  setLabels(object);
  const { spec } = object;
  if (!isJsonObject(spec)) return;
  const strategy = isJsonObject(spec['strategy']) ? spec['strategy'] : {};
  const type = strategy['type'] || 'RollingUpdate';
  const rollingUpdate = strategy['rollingUpdate'] ?? (type === 'RollingUpdate' ? {} : undefined);
  spec['strategy'] = {
    ...strategy,
    type,
    ...(isJsonObject(rollingUpdate) ? { rollingUpdate: { maxUnavailable: 1, maxSurge: 1, ...rollingUpdate } } : {}),
  };
  spec['progressDeadlineSeconds'] ??= unlimited;
  spec['revisionHistoryLimit'] ??= unlimited;
}

function setHistory(object: ApiObject): void {
  setLabels(object);
  if (isJsonObject(object['spec'])) object['spec']['revisionHistoryLimit'] ??= 2;
}

function checkRollback({ spec }: ApiObject): FieldError[] {
  const revision = at(spec, 'rollbackTo', 'revision') ?? 0;
  if ((typeof revision === 'number' || typeof revision === 'bigint') && revision >= 0) return [];
  return [fieldError.invalid('spec.rollbackTo.revision', revision, 'must be greater than or equal to 0')];
}

/** The selector may change. */
const withMutableSelector = (ofKind: Strategy): Strategy => ({
  ...ofKind,
  validateUpdate: (object, old, context) => ofKind.validateUpdate?.(object, withSelectorOf(object, old), context) ?? [],
});

function withSelectorOf(object: ApiObject, old: ApiObject): ApiObject {
  const selector: Json | undefined = at(object, 'spec', 'selector');
  const { selector: _, ...spec } = isJsonObject(old['spec']) ? old['spec'] : {};
  return { ...old, spec: selector === undefined ? spec : { ...spec, selector } };
}

const rollbackTo = annotated('spec', 'rollbackTo', 'deprecated.deployment.rollback.to', {
  write: (value) => at(value, 'revision') ?? 0,
  read: (revision) => (revision < 0 ? undefined : revision === 0 ? {} : { revision }),
});
const templateGeneration = annotated('spec', 'templateGeneration', 'deprecated.daemonset.template.generation', {
  write: (generation) => generation,
  read: (generation) => (generation === 0 ? undefined : generation),
});

type Rules = Omit<OlderVersion, 'version' | 'schema' | 'lifecycle'>;

/** The rules that the beta versions before v1beta2 share. */
const early: Rules = { changes: [], defaults: setLabels };
const earlyDeployment: Rules = {
  ...early,
  annotated: [rollbackTo],
  check: checkRollback,
  strategy: withMutableSelector,
};

function version(
  groupVersion: keyof typeof types,
  schema: StructSchema,
  introduced: Lifecycle['introduced'],
  rules: Rules,
): OlderVersion {
  const [, name = ''] = groupVersion.split('/');
  const deprecated = groupVersion === 'apps/v1beta2' ? '1.9' : '1.8';
  return {
    version: name,
    schema: types[groupVersion](schema),
    lifecycle: { introduced, deprecated, removed: '1.16' },
    ...rules,
  };
}

const scaled = (groupVersion: string) => ({ subresources: [olderScale(groupVersion)] });
const deploymentParts = (groupVersion: string) => ({
  subresources: [olderScale(groupVersion), rollback(groupVersion)],
});

export const workloads: readonly OlderKind[] = [
  { group: 'apps', plural: 'daemonsets', versions: [version('apps/v1beta2', v1.DaemonSet, '1.8', {})] },
  {
    group: 'apps',
    plural: 'deployments',
    versions: [
      version('apps/v1beta2', v1.Deployment, '1.8', scaled('apps/v1beta2')),
      version('apps/v1beta1', v1.Deployment, '1.6', {
        ...earlyDeployment,
        ...deploymentParts('apps/v1beta1'),
        defaults: setHistory,
      }),
    ],
  },
  {
    group: 'apps',
    plural: 'replicasets',
    versions: [version('apps/v1beta2', v1.ReplicaSet, '1.8', scaled('apps/v1beta2'))],
  },
  {
    group: 'apps',
    plural: 'statefulsets',
    versions: [
      version('apps/v1beta2', v1.StatefulSet, '1.8', scaled('apps/v1beta2')),
      version('apps/v1beta1', v1.StatefulSet, '1.5', { ...early, ...scaled('apps/v1beta1'), defaults: setOnDelete }),
    ],
  },
  {
    group: 'extensions',
    plural: 'daemonsets',
    storedIn: 'apps',
    versions: [
      version('extensions/v1beta1', v1.DaemonSet, '1.1', {
        ...early,
        annotated: [templateGeneration],
        defaults: setOnDelete,
        strategy: withMutableSelector,
      }),
    ],
  },
  {
    group: 'extensions',
    plural: 'deployments',
    storedIn: 'apps',
    versions: [
      version('extensions/v1beta1', v1.Deployment, '1.1', {
        ...earlyDeployment,
        ...deploymentParts('extensions/v1beta1'),
        defaults: setRollout,
      }),
    ],
  },
  {
    group: 'extensions',
    plural: 'replicasets',
    storedIn: 'apps',
    versions: [
      version('extensions/v1beta1', v1.ReplicaSet, '1.2', {
        ...early,
        ...scaled('extensions/v1beta1'),
        strategy: withMutableSelector,
      }),
    ],
  },
];
