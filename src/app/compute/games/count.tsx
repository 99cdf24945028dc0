/** A whole number of a form. */
export function Count({
  name,
  label,
  value,
  most,
  least = 1,
}: {
  name: string;
  label: string;
  value: number;
  most: number;
  least?: number;
}) {
  return (
    <label className="form-field">
      <span className="caption">{label}</span>
      <input
        type="number"
        name={name}
        className="number"
        defaultValue={value}
        min={least}
        max={most}
        step={1}
        required
      />
    </label>
  );
}
