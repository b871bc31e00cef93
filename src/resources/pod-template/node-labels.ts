/** Deprecated node labels. */
import { getKey, labelValue, type Names, warned } from '../../meta/index.ts';
import { type Infer, remember } from '../../schema/index.ts';
import type { NodeSelectorTerm } from '../../types/core-v1.ts';

type Labels = { readonly [label: string]: string };

/** Deprecated node labels, with the labels that replace them. */
export const renamedLabels = ({ labels }: Names): Labels => ({
  [`beta.${labels}/arch`]: `${labels}/arch`,
  [`beta.${labels}/os`]: `${labels}/os`,
  [`failure-domain.beta.${labels}/region`]: `topology.${labels}/region`,
  [`failure-domain.beta.${labels}/zone`]: `topology.${labels}/zone`,
  [`beta.${labels}/instance-type`]: `node.${labels}/instance-type`,
});

const labelReasons = new WeakMap<Names, Labels>();

/** The text of the warning for a deprecated node label; undefined for other labels. */
export const deprecatedLabelReason = (key: string, names: Names): string | undefined =>
  getKey(
    remember(labelReasons, names, () => labelReasonsOf(names)),
    key,
  );

function labelReasonsOf(names: Names): Labels {
  const { labels } = names;
  const renamed = Object.entries(renamedLabels(names)).map(([key, by]) => [
    key,
    `deprecated since ${/^beta.*\/(?:arch|os)$/.test(key) ? 'v1.14' : 'v1.17'}; use "${by}" instead`,
  ]);
  return {
    ...(Object.fromEntries(renamed) as Labels),
    [`app.${labels}/created-by`]: 'deprecated since v1.9',
    [`scheduler.alpha.${labels}/preferAvoidPods`]: 'deprecated since v1.22; use Taints and Tolerations instead',
    [`node-role.${labels}/master`]: `use "node-role.${labels}/control-plane" instead`,
  };
}

/** Warnings for a node label key at a path. */
export function labelWarnings(key: string, path: string, names: Names): string[] {
  const reason = deprecatedLabelReason(key, names);
  return reason === undefined ? [] : [`${path}: ${reason}`];
}

/** Warnings for a node selector term; for its label values too where validation does not reject them. */
export const nodeSelectorTermWarnings = (
  term: Infer<typeof NodeSelectorTerm>,
  anyValue: boolean,
  path: string,
  names: Names,
): string[] =>
  warned(term.matchExpressions).flatMap(({ key = '', values = [] }, i) => {
    const at = `${path}.matchExpressions[${i}]`;
    const reason = deprecatedLabelReason(key, names);
    return [
      ...(reason === undefined ? [] : [`${at}.key: ${key} is ${reason}`]),
      ...(anyValue
        ? warned(values).flatMap((value, j) =>
            labelValue(value).map((why) => `${at}.values[${j}]: ${value} is invalid, ${why}`),
          )
        : []),
    ];
  });
