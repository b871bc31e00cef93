import {
  errorsWith,
  type FieldError,
  fieldError,
  getKey,
  immutable,
  type ObjectMeta,
  validateSelectorObject,
} from '../../meta/index.ts';
import type { StrategyContext } from '../../registry/index.ts';
import type { Infer, ObjectOf } from '../../schema/index.ts';
import { DaemonSet, DaemonSetUpdateStrategy } from '../../types/apps-v1.ts';
import { dropVolumes } from '../pod-template/dropped-volumes.ts';
import { defaultTemplate } from '../pod-template/pod-spec.defaults.ts';
import { templateWarnings } from '../pod-template/pod-spec.warnings.ts';
import {
  isEmptySelector,
  same,
  validateCollisions,
  validateSelected,
  validateWorkloadTemplate,
} from '../pod-template/workloads.validation.ts';
import { age, containerNames, formatLabels, formatSelector, imageNames, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { podContext } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';
import { intOrPercentValue, validateAtMost100Percent, validateIntOrPercent } from './rolling-update.validation.ts';

export const daemonSets = resource({
  group: 'apps',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  schema: DaemonSet,
  lifecycle: { introduced: '1.9' },
  shortNames: ['ds'],
  categories: ['all'],
  status: true,
  columns: [
    name,
    ['Desired', ({ status }) => status?.desiredNumberScheduled ?? 0, 'integer'],
    ['Current', ({ status }) => status?.currentNumberScheduled ?? 0, 'integer'],
    ['Ready', ({ status }) => status?.numberReady ?? 0, 'integer'],
    ['Up-to-date', ({ status }) => status?.updatedNumberScheduled ?? 0, 'integer'],
    ['Available', ({ status }) => status?.numberAvailable ?? 0, 'integer'],
    ['Node Selector', ({ spec }) => formatLabels(spec?.template?.spec?.nodeSelector)],
    age,
    ['Containers', ({ spec }) => containerNames(spec?.template?.spec?.containers), 'wide'],
    ['Images', ({ spec }) => imageNames(spec?.template?.spec?.containers), 'wide'],
    ['Selector', ({ spec }) => formatSelector(spec?.selector), 'wide'],
  ],
  strategy: {
    metadataChecks: [0, 1],
    generation: true,
    defaults: ({ metadata, spec = {} }) => {
      if (getKey(metadata.annotations ?? {}, TEMPLATES) === undefined) countTemplates(metadata, 0);
      spec.updateStrategy ??= {};
      spec.updateStrategy.type ||= 'RollingUpdate';
      if (spec.updateStrategy.type === 'RollingUpdate') {
        spec.updateStrategy.rollingUpdate ??= {};
        spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1;
        spec.updateStrategy.rollingUpdate.maxSurge ??= 0;
      } else if (spec.updateStrategy.rollingUpdate !== undefined) {
        // The limits have no effect then, and are written all the same.
        spec.updateStrategy.rollingUpdate.maxUnavailable ??= 0;
        spec.updateStrategy.rollingUpdate.maxSurge ??= 0;
      }
      spec.revisionHistoryLimit ??= 10;
      defaultTemplate(spec.template);
    },
    prepareCreate: ({ metadata, spec }) => {
      dropVolumes(spec?.template?.spec);
      countTemplates(metadata, Math.max(templatesOf(metadata), 1));
    },
    prepareUpdate: ({ metadata, spec }, old) => {
      dropVolumes(spec?.template?.spec);
      const before = templatesOf(old.metadata);
      countTemplates(metadata, same(spec?.template, old.spec?.template) ? before : before + 1);
    },
    prepareStatusUpdate: ({ metadata }, old) => countTemplates(metadata, templatesOf(old.metadata)),
    validate: validateSpec,
    validateUpdate: ({ spec, status = {} }, old) => {
      if (!same(status, old.status)) return validateCollisions(status, old.status ?? {});
      return same(spec?.selector, old.spec?.selector) ? [] : [immutable('spec.selector', spec?.selector)];
    },
    warnings: ({ spec }, old, { names }) =>
      old !== undefined && same(spec?.template, old.spec?.template)
        ? []
        : templateWarnings(spec?.template ?? {}, 'spec.template', names),
  },
});

/** The deprecated annotation with the template generation. */
const TEMPLATES = 'deprecated.daemonset.template.generation';

/** The template generation; 0 when the annotation is not an integer. */
function templatesOf({ annotations = {} }: ObjectMeta): number {
  const count = Number(getKey(annotations, TEMPLATES) ?? 0);
  return Number.isSafeInteger(count) ? count : 0;
}

function countTemplates(metadata: ObjectMeta, count: number): void {
  const annotations = { ...metadata.annotations, [TEMPLATES]: String(count) };
  metadata.annotations = Object.fromEntries(Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function validateSpec({ metadata, spec = {} }: ObjectOf<typeof DaemonSet>, context: StrategyContext): FieldError[] {
  const { selector, template = {} } = spec;
  const errors = [
    ...errorsWith(validateSelectorObject(selector, 'spec.selector'), (found) =>
      found.length > 0 ? found : validateSelected(selector, template, 'spec.template'),
    ),
  ];
  if (isEmptySelector(selector)) {
    errors.push(fieldError.invalid('spec.selector', {}, 'empty selector is invalid for daemonset'));
  }
  return [
    ...errors,
    ...validateWorkloadTemplate(template, 'spec.template', 'DaemonSet', podContext({ metadata }, context)),
    ...validateStrategy(spec.updateStrategy ?? {}),
  ];
}

/** Validates the update strategy: exactly one of `maxSurge` and `maxUnavailable` is not zero. */
function validateStrategy(strategy: Infer<typeof DaemonSetUpdateStrategy>): FieldError[] {
  const { type = '', rollingUpdate } = strategy;
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') {
    const printedValue = internalForm(strategy, DaemonSetUpdateStrategy);
    return [fieldError.notSupported('spec.updateStrategy', printedValue, ['RollingUpdate', 'OnDelete'])];
  }
  const { maxUnavailable, maxSurge } = rollingUpdate ?? {};
  const unavailable = 'spec.updateStrategy.rollingUpdate.maxUnavailable';
  const surge = 'spec.updateStrategy.rollingUpdate.maxSurge';
  const errors = [
    ...validateIntOrPercent(maxUnavailable, unavailable),
    ...validateIntOrPercent(maxSurge, surge),
    ...validateAtMost100Percent(maxUnavailable, unavailable),
    ...validateAtMost100Percent(maxSurge, surge),
  ];
  const [hasUnavailable, hasSurge] = [intOrPercentValue(maxUnavailable) !== 0, intOrPercentValue(maxSurge) !== 0];
  if (hasUnavailable && hasSurge) {
    errors.push(fieldError.invalid(surge, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  } else if (!hasUnavailable && !hasSurge) {
    errors.push(fieldError.required(unavailable, 'cannot be 0 when maxSurge is 0'));
  }
  return errors;
}
