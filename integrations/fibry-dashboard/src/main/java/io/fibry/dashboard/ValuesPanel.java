package io.fibry.dashboard;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/** A panel with values of the user's own. */
record ValuesPanel(String title, Supplier<? extends Map<String, ?>> values) implements Panel {

  @Override
  public boolean hasTrend() {
    return false;
  }

  @Override
  public PanelSample sample(Optional<PanelSample> previous, long elapsedNanos, PanelInput input) {
    var shownValues = new LinkedHashMap<String, Object>();
    values.get().forEach((name, value) -> shownValues.put(Objects.requireNonNull(name),
        value instanceof Number || value instanceof Boolean ? value : String.valueOf(value)));
    var map = JsonText.object("title", title, "values", shownValues);
    return () -> map;
  }
}
