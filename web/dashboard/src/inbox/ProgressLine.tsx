import { Button } from "../ui/Button";
import { count, number } from "../ui/marks";
import { useProgress } from "../requests/progress";
import "./bulkbar.css";

// ProgressLine shows the progress of a change that takes several calls.
export function ProgressLine() {
  const progress = useProgress();
  if (!progress) return null;
  const { text, done, total, stop } = progress;
  return (
    <div className="progress">
      <label>
        {text}: {number(done)} of {count(Math.max(total, done), "request")}
        <progress max={Math.max(total, done, 1)} value={done} />
      </label>
      <Button small onPress={() => stop.abort()}>
        Stop
      </Button>
    </div>
  );
}
