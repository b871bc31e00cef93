import { compatibleDomain, type FieldError, fieldError, type Names, type ObjectMeta } from '../meta/index.ts';
import type { Condition } from './conditions.ts';

/** Whether definitions of the group need an approval. */
export const isProtectedGroup = (group: string, { domain, labels }: Names): boolean =>
  [domain, labels].some((own) => group === own || group.endsWith(`.${own}`));

/** The annotation with the URL of the approval. */
const approvalKey = ({ labels }: Names): string => `api-approved.${labels}`;

/** The errors of the approval of a definition: of a protected group, and where an update changes what the approval says. */
export function validateApproval(
  group: string,
  { annotations }: Pick<ObjectMeta, 'annotations'>,
  old: Pick<ObjectMeta, 'annotations'> | undefined,
  names: Names,
): FieldError[] {
  if (!isProtectedGroup(group, names)) return [];
  const { reason, message } = approvalCondition(annotations, names);
  if (old !== undefined && approvalCondition(old.annotations, names).reason === reason) return [];
  const key = approvalKey(names);
  const path = `metadata.annotations[${key}]`;
  if (reason === 'MissingAnnotation') return [fieldError.required(path, message)];
  return reason === 'InvalidAnnotation' ? [fieldError.invalid(path, annotations?.[key] ?? '', message)] : [];
}

const explanation = ({ domain, product }: Names): string =>
  domain === compatibleDomain ? `, see https://github.com/${product}/enhancements/pull/1111` : '';

/** The condition of the API approval of a definition of a protected group. */
export function approvalCondition(
  annotations: { readonly [key: string]: string } | undefined,
  names: Names,
): Condition {
  const key = approvalKey(names);
  const annotation = annotations !== undefined && Object.hasOwn(annotations, key) ? (annotations[key] as string) : '';
  const of = (status: Condition['status'], reason: string, message: string): Condition => ({
    type: `${apiPolicyOwner(names)}APIApprovalPolicyConformant`,
    status,
    reason,
    message,
  });
  const required = `protected groups must have approval annotation "${key}"`;
  if (annotation === '') return of('False', 'MissingAnnotation', `${required}${explanation(names)}`);
  if (annotation.startsWith('unapproved')) {
    return of('False', 'UnapprovedAnnotation', `not approved: ${JSON.stringify(annotation)}`);
  }
  if (URL.canParse(annotation) && new URL(annotation).host !== '')
    return of('True', 'ApprovedAnnotation', `approved in ${annotation}`);
  const why = ' with either a URL or a reason starting with "unapproved"';
  return of('False', 'InvalidAnnotation', `${required}${why}${explanation(names)}`);
}

/** The product in the name of the condition, with a capital. */
const apiPolicyOwner = ({ product }: Names): string => `${product[0]?.toUpperCase()}${product.slice(1)}`;
