/** An error of the server, in its own words. */
import { StatusError } from '../../meta/index.ts';

export function ErrorNote({ error }: { readonly error: unknown }) {
  const causes = error instanceof StatusError ? (error.details?.causes ?? []) : [];
  return (
    <div class="note error" role="alert">
      <p>{messageOf(error)}</p>
      {causes.length > 1 && (
        <ul>
          {causes.map(({ field, message }) => (
            <li key={`${field} ${message}`}>
              <code>{field}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
