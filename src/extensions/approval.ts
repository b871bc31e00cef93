import { compatibleDomain, type Names } from '../meta/index.ts';
import type { Condition } from './conditions.ts';

/** Whether definitions of the group need an approval. */
export const isProtectedGroup = (group: string, { domain, labels }: Names): boolean =>
  [domain, labels].some((own) => group === own || group.endsWith(`.${own}`));

/** The annotation with the URL of the approval. */
export const approvalKey = ({ labels }: Names): string => `api-approved.${labels}`;

/** What is wrong with a definition of a protected group without the annotation. */
export const missingApproval = (names: Names): string =>
  `protected groups must have approval annotation "${approvalKey(names)}"${explanation(names)}`;

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
    ...{ type: `${apiPolicyOwner(names)}APIApprovalPolicyConformant`, status, reason, message },
  });
  if (annotation === '') return of('False', 'MissingAnnotation', missingApproval(names));
  if (annotation.startsWith('unapproved')) {
    return of('False', 'UnapprovedAnnotation', `not approved: ${JSON.stringify(annotation)}`);
  }
  if (URL.canParse(annotation) && new URL(annotation).host !== '')
    return of('True', 'ApprovedAnnotation', `approved in ${annotation}`);
  const why = `protected groups must have approval annotation "${key}" with either a URL or a reason starting with "unapproved"`;
  return of('False', 'InvalidAnnotation', `${why}${explanation(names)}`);
}

/** The product in the name of the condition, with a capital. */
const apiPolicyOwner = ({ product }: Names): string => `${product[0]?.toUpperCase()}${product.slice(1)}`;
