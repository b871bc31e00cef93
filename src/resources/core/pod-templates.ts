import { PodTemplate } from '../../types/core-v1.ts';
import { dropVolumes } from '../pod-template/dropped-volumes.ts';
import { defaultTemplate } from '../pod-template/pod-spec.defaults.ts';
import { validateTemplate } from '../pod-template/pod-spec.validation.ts';
import { templateWarnings } from '../pod-template/pod-spec.warnings.ts';
import { containerNames, formatLabels, imageNames, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { podContext } from '../shared/field-rules.ts';

export const podTemplates = resource({
  group: '',
  plural: 'podtemplates',
  kind: 'PodTemplate',
  schema: PodTemplate,
  lifecycle: { introduced: '1.0' },
  columns: [
    name,
    ['Containers', ({ template }) => containerNames(template?.spec?.containers)],
    ['Images', ({ template }) => imageNames(template?.spec?.containers)],
    ['Pod Labels', ({ template }) => formatLabels(template?.metadata?.labels)],
  ],
  strategy: {
    metadataChecks: [0, 1],
    returnsDeleted: true,
    generation: true,
    defaults: ({ template }) => defaultTemplate(template),
    prepareCreate: ({ template }) => dropVolumes(template?.spec),
    prepareUpdate: ({ template }) => dropVolumes(template?.spec),
    validate: ({ metadata, template = {} }, context) =>
      validateTemplate(template, 'template', podContext({ metadata }, context)),
    warnings: ({ metadata, template = {} }, old, { names }) =>
      old?.metadata.generation === metadata.generation ? [] : templateWarnings(template, 'template', names),
  },
});
