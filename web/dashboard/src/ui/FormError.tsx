// FormError shows an error that belongs to no single field of the form.
export function FormError({ error }: { error: string | undefined }) {
  if (!error) return null;
  return <p className="form-error" role="alert">{error}</p>;
}
