import type { Infer } from '../../schema/index.ts';
import type { ParamKind, ParamRef } from '../../types/admissionregistration-v1.ts';

/** `apiVersion/kind` of a policy's parameters. */
export const formatParamKind = (kind: Infer<typeof ParamKind> | undefined): string =>
  kind === undefined ? '<unset>' : `${kind.apiVersion}/${kind.kind}`;

/** `namespace/name` of a binding's parameters. */
export function formatParamRef(ref: Infer<typeof ParamRef> | undefined): string {
  if (ref === undefined) return '<unset>';
  if (!ref.name) return '*';
  return ref.namespace ? `${ref.namespace}/${ref.name}` : `*/${ref.name}`;
}
