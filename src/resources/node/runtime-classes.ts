import { dns1123Label, type FieldError, fieldError, type Names, validateLabels } from '../../meta/index.ts';
import { age, name } from '../cells.ts';
import { byRule } from '../core/pod-spec/field-rules.ts';
import { internalForm } from '../core/pod-spec/internal-go-form.ts';
import { warnOfLabel } from '../core/pod-spec/node-labels.ts';
import { validateOverhead } from '../core/pod-spec/resources.ts';
import { validateTolerations } from '../core/pod-spec/scheduling.ts';
import { type ObjectOf, resource } from '../define.ts';
import { Toleration } from '../types/core-v1.ts';
import { RuntimeClass } from '../types/node-v1.ts';
import { unchanged } from '../validate/common.ts';

export const runtimeClasses = resource({
  group: 'node.{domain}',
  plural: 'runtimeclasses',
  kind: 'RuntimeClass',
  schema: RuntimeClass,
  namespaced: false,
  columns: [name, ['Handler', ({ handler = '' }) => handler], age],
  strategy: {
    bareFinalizers: true,
    createOnUpdate: true,
    unconditionalUpdate: false,
    validate: (runtime, { names }) => validateRuntime(runtime, names),
    validateUpdate: ({ handler }, old) => unchanged('handler', handler, old.handler),
    warnings: ({ scheduling }, _, { names }) =>
      Object.keys(scheduling?.nodeSelector ?? {}).flatMap((key) => warnOfLabel(key, 'scheduling.nodeSelector', names)),
  },
});

function validateRuntime(
  { handler = '', overhead, scheduling }: ObjectOf<typeof RuntimeClass>,
  names: Names,
): FieldError[] {
  const tolerations = scheduling?.tolerations ?? [];
  const path = 'scheduling.tolerations';
  const found = [
    ...(handler === '' ? [fieldError.required('handler')] : byRule('handler', handler, dns1123Label)),
    ...validateOverhead(overhead?.podFixed ?? {}, 'overhead', names),
    ...validateLabels(scheduling?.nodeSelector ?? {}, 'scheduling.nodeSelector'),
    ...validateTolerations(tolerations, path),
  ];
  const seen = new Set<string>();
  tolerations.forEach((toleration, i) => {
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) found.push(fieldError.duplicate(`${path}[${i}]`, internalForm(toleration, Toleration)));
    seen.add(identity);
  });
  return found;
}
