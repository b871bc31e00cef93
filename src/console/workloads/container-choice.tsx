/** The choice of a container of a pod. */
import { isJsonObject, type JsonObject } from '../../meta/index.ts';
import { t } from '../texts.ts';

const fields = ['containers', 'initContainers', 'ephemeralContainers'];

/** The names of the containers of a pod; init containers and ephemeral containers are last. */
export function containersOf({ spec }: JsonObject): string[] {
  if (!isJsonObject(spec)) return [];
  return fields
    .flatMap((field) => spec[field] ?? [])
    .flatMap((container) =>
      isJsonObject(container) && typeof container['name'] === 'string' ? container['name'] : [],
    );
}

export interface ContainerChoiceProps {
  readonly containers: readonly string[];
  readonly value: string;
  readonly onChoose: (container: string) => void;
}

export const ContainerChoice = ({ containers, value, onChoose }: ContainerChoiceProps) => (
  <label class="row">
    {t('container')}
    <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      {containers.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  </label>
);
