import type { Registry } from '../../registry/index.ts';
import type { Describe } from '../../schema/index.ts';

/** Descriptions in which those of deprecated kinds end with the text of the warning. */
export function withDeprecations(describe: Describe, registry: Registry): Describe {
  const warnings = new Map(
    registry.resources
      .flatMap(({ versions }) => [...versions.values()])
      .flatMap(({ declared, deprecation }) =>
        deprecation === undefined ? [] : [[declared.schema.name, deprecation.warning]],
      ),
  );
  return (typeName, field = '') => {
    const text = describe(typeName, field);
    const warning = field === '' ? warnings.get(typeName) : undefined;
    if (warning === undefined) return text;
    return [text, `Deprecated: ${warning}.`].filter((sentence) => sentence !== undefined).join(' ');
  };
}
