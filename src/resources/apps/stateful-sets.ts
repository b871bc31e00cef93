import {
  dns1123Label,
  errorsWith,
  type FieldError,
  fieldError,
  validateSelectorObject,
  warned,
} from '../../meta/index.ts';
import type { StrategyContext } from '../../registry/index.ts';
import type { Infer, ObjectOf } from '../../schema/index.ts';
import {
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  type StatefulSetSpec,
  type StatefulSetStatus,
  StatefulSetUpdateStrategy,
} from '../../types/apps-v1.ts';
import type { PodTemplateSpec } from '../../types/core-v1.ts';
import { dropVolumes } from '../pod-template/dropped-volumes.ts';
import { defaultTemplate } from '../pod-template/pod-spec.defaults.ts';
import { validateTemplate, validateTemplateMeta } from '../pod-template/pod-spec.validation.ts';
import { fractionWarnings } from '../pod-template/pod-spec.warnings.ts';
import { roundQuantities } from '../pod-template/resource-list.ts';
import { validateClaimSpec } from '../pod-template/volume-claim-template.ts';
import {
  isEmptySelector,
  same,
  validateCollisions,
  validateCounts,
  validateRestartAlways,
  validateSelected,
  workloadWarnings,
} from '../pod-template/workloads.validation.ts';
import { age, containerNames, imageNames, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, eachOf, isNew, podContext } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';
import { intOrPercentValue, validateAtMost100Percent, validateIntOrPercent } from './rolling-update.validation.ts';

export const statefulSets = resource({
  group: 'apps',
  plural: 'statefulsets',
  kind: 'StatefulSet',
  schema: StatefulSet,
  lifecycle: { introduced: '1.9' },
  shortNames: ['sts'],
  categories: ['all'],
  status: true,
  scale: true,
  columns: [
    name,
    ['Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`],
    age,
    ['Containers', ({ spec }) => containerNames(spec?.template?.spec?.containers), 'wide'],
    ['Images', ({ spec }) => imageNames(spec?.template?.spec?.containers), 'wide'],
  ],
  strategy: {
    metadataChecks: [0, 1],
    generation: true,
    nameRule: dns1123Label,
    defaults: ({ spec = {} }) => setDefaults(spec),
    prepareCreate: ({ spec }) => dropVolumes(spec?.template?.spec),
    prepareUpdate: ({ spec }) => dropVolumes(spec?.template?.spec),
    validate: validateSpec,
    validateUpdate: ({ spec = {}, status = {} }, old) => {
      const errors: FieldError[] = [];
      if (!same(fixed(spec), fixed(old.spec ?? {}))) errors.push(fieldError.forbidden('spec', FIXED));
      return same(status, old.status) ? errors : [...errors, ...validateStatus(status, old.status ?? {})];
    },
    warnings: (set, old, { names }) => [
      ...workloadWarnings(set, old, names),
      ...warned(set.spec?.volumeClaimTemplates).flatMap(({ spec }, i) => {
        // The reference server uses another field path for warnings on update.
        const path = `spec.volumeClaimTemplates[${i}]${old === undefined ? '' : '.Spec'}.resources`;
        return (['requests', 'limits'] as const).flatMap((kind) =>
          fractionWarnings(spec?.resources?.[kind], `${path}.${kind}`, ['storage']),
        );
      }),
      ...((set.spec?.revisionHistoryLimit ?? 0) < 0
        ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
        : []),
    ],
  },
});

const FIXED =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
  "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/** The immutable fields of a spec. */
const fixed = ({ selector, volumeClaimTemplates, serviceName, podManagementPolicy }: StatefulSetSpec) => ({
  selector: selector ?? null,
  volumeClaimTemplates: volumeClaimTemplates ?? [],
  serviceName: serviceName ?? '',
  podManagementPolicy: podManagementPolicy ?? '',
});

function setDefaults(spec: StatefulSetSpec): void {
  spec.podManagementPolicy ||= 'OrderedReady';
  spec.updateStrategy ??= {};
  if (!spec.updateStrategy.type) {
    spec.updateStrategy.type = 'RollingUpdate';
    spec.updateStrategy.rollingUpdate ??= {};
  }
  const { type, rollingUpdate } = spec.updateStrategy;
  if (type === 'RollingUpdate' && rollingUpdate !== undefined) rollingUpdate.partition ??= 0;
  spec.persistentVolumeClaimRetentionPolicy ??= {};
  spec.persistentVolumeClaimRetentionPolicy.whenDeleted ||= 'Retain';
  spec.persistentVolumeClaimRetentionPolicy.whenScaled ||= 'Retain';
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  defaultTemplate(spec.template);
  spec.volumeClaimTemplates?.forEach((claim) => {
    claim.apiVersion = 'v1';
    claim.kind = 'PersistentVolumeClaim';
    claim.spec ??= {};
    claim.spec.volumeMode ??= 'Filesystem';
    roundQuantities(claim.spec.resources?.requests);
    roundQuantities(claim.spec.resources?.limits);
    claim.status ??= {};
    claim.status.phase ||= 'Pending';
  });
}

function validateSpec({ metadata, spec = {} }: ObjectOf<typeof StatefulSet>, context: StrategyContext): FieldError[] {
  const { podManagementPolicy: policy = '', serviceName = '', selector } = spec;
  const errors: FieldError[] = [];
  if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    errors.push(fieldError.invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'"));
  }
  errors.push(...validateStrategy(spec.updateStrategy ?? {}));
  if (isNew({ metadata })) {
    errors.push(
      ...eachOf(spec.volumeClaimTemplates, 'spec.volumeClaimTemplates', (claim, at) =>
        validateClaimSpec(claim.spec ?? {}, `${at}.spec`, context.names),
      ),
    );
    if (serviceName !== '') errors.push(...byRule('spec.serviceName', serviceName, dns1123Label));
  }
  const empty = isEmptySelector(selector)
    ? [fieldError.invalid('spec.selector', {}, 'empty selector is invalid for statefulset')]
    : [];
  const ofTemplate = (): readonly FieldError[] => {
    const template = withClaims(spec);
    return [
      ...validateSelected(selector, spec.template ?? {}, 'spec.template'),
      ...requireClaimNames(spec, template),
      ...validateTemplate(template, 'spec.template', podContext({ metadata }, context)),
      // The errors of the metadata are reported again.
      ...validateTemplateMeta(template, 'spec.template', context.names),
    ];
  };
  errors.push(
    ...errorsWith(validateSelectorObject(selector, 'spec.selector'), (found) => {
      if (found.length === 0) return [...empty, ...ofTemplate()];
      const invalid = fieldError.invalid('spec.selector', selector, '');
      return [...found, ...empty, fieldError.inPlaceOf('spec.template', invalid)];
    }),
  );
  return [...errors, ...validateRestartAlways(spec.template ?? {}, 'spec.template', 'StatefulSet')];
}

/** The pod template with a volume for each name of a volume claim template. */
function withClaims({ template = {}, volumeClaimTemplates = [] }: StatefulSetSpec): PodTemplateSpec {
  const names = new Set(volumeClaimTemplates.map(({ metadata }) => metadata?.name ?? ''));
  const { volumes = [] } = template.spec ?? {};
  if (names.size === 0) return template;
  const claims = [...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return {
    ...template,
    spec: { ...template.spec, volumes: [...volumes.filter(({ name = '' }) => !names.has(name)), ...claims] },
  };
}

/** Requires a name of each claim template: it is reported for its volume in `template`. */
function requireClaimNames({ volumeClaimTemplates = [] }: StatefulSetSpec, template: PodTemplateSpec): FieldError[] {
  if (volumeClaimTemplates.every(({ metadata }) => (metadata?.name ?? '') !== '')) return [];
  const at = `spec.template.spec.volumes[${template.spec?.volumes?.findIndex(({ name }) => name === '')}]`;
  return [fieldError.required(`${at}.persistentVolumeClaim.claimName`), fieldError.required(`${at}.name`)];
}

/** Validates the update strategy. */
function validateStrategy(strategy: Infer<typeof StatefulSetUpdateStrategy>): FieldError[] {
  const { type = '', rollingUpdate } = strategy;
  const path = 'spec.updateStrategy.rollingUpdate';
  if (type === 'OnDelete') {
    if (rollingUpdate === undefined) return [];
    const printedValue = internalForm(rollingUpdate, RollingUpdateStatefulSetStrategy);
    return [fieldError.invalid(path, printedValue, "only allowed for updateStrategy 'RollingUpdate'")];
  }
  if (type !== 'RollingUpdate') {
    const printedValue = internalForm(strategy, StatefulSetUpdateStrategy);
    return [fieldError.invalid('spec.updateStrategy', printedValue, "must be 'RollingUpdate' or 'OnDelete'")];
  }
  const { maxUnavailable } = rollingUpdate ?? {};
  if (maxUnavailable === undefined) return [];
  const field = `${path}.maxUnavailable`;
  return [
    ...validateIntOrPercent(maxUnavailable, field),
    ...(intOrPercentValue(maxUnavailable) === 0 ? [fieldError.invalid(field, maxUnavailable, 'cannot be 0')] : []),
    ...validateAtMost100Percent(maxUnavailable, field),
  ];
}

function validateStatus(status: StatefulSetStatus, old: StatefulSetStatus): FieldError[] {
  const parts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const;
  return [...validateCounts(status, parts, 'status.readyReplicas'), ...validateCollisions(status, old)];
}
