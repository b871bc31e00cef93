import { dns1123Label, type FieldError, fieldError, type Names, validateLabels, warned } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { Toleration } from '../../types/core-v1.ts';
import { RuntimeClass } from '../../types/node-v1.ts';
import { labelWarnings } from '../pod-template/node-labels.ts';
import { validateOverhead } from '../pod-template/resources.ts';
import { validateTolerations } from '../pod-template/scheduling.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, unchanged } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';

export const runtimeClasses = resource({
  group: 'node.{domain}',
  plural: 'runtimeclasses',
  kind: 'RuntimeClass',
  schema: RuntimeClass,
  lifecycle: { introduced: '1.20' },
  namespaced: false,
  columns: [name, ['Handler', ({ handler = '' }) => handler], age],
  strategy: {
    bareFinalizers: true,
    createOnUpdate: true,
    unconditionalUpdate: false,
    validate: (runtime, { names }) => validateRuntime(runtime, names),
    validateUpdate: ({ handler }, old) => unchanged('handler', handler, old.handler),
    warnings: ({ scheduling }, _, { names }) =>
      warned(Object.keys(scheduling?.nodeSelector ?? {})).flatMap((key) =>
        labelWarnings(key, 'scheduling.nodeSelector', names),
      ),
  },
});

function validateRuntime(
  { handler = '', overhead, scheduling }: ObjectOf<typeof RuntimeClass>,
  names: Names,
): FieldError[] {
  const tolerations = scheduling?.tolerations ?? [];
  const path = 'scheduling.tolerations';
  const errors = [
    ...(handler === '' ? [fieldError.required('handler')] : byRule('handler', handler, dns1123Label)),
    ...validateOverhead(overhead?.podFixed ?? {}, 'overhead', names),
    ...validateLabels(scheduling?.nodeSelector ?? {}, 'scheduling.nodeSelector'),
    ...validateTolerations(tolerations, path),
  ];
  const seen = new Set<string>();
  tolerations.forEach((toleration, i) => {
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) errors.push(fieldError.duplicate(`${path}[${i}]`, internalForm(toleration, Toleration)));
    seen.add(identity);
  });
  return errors;
}
