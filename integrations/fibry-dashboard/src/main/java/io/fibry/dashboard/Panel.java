package io.fibry.dashboard;

import io.fibry.dashboard.ProcessPauses.PauseHistory;
import io.fibry.dashboard.RouteTrend.RouteLimits;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A part of the page beside the actors, such as a store. Immutable: samples have its history. */
interface Panel {

  /**
   * What a panel shows at one moment. A kind of panel has a sample class of its own, which also has
   * the values with which the next sample is compared.
   */
  interface PanelSample {
    /** Returns the panel as a JSON object. */
    Map<String, Object> asMap();
  }

  /**
   * The values that panels may read.
   *
   * @param rows the actors of the snapshot; empty for a sample that no page shows
   * @param limits the limits of routes
   * @param pauses the pauses of the process
   */
  record PanelInput(List<ActorRow> rows, RouteLimits limits, PauseHistory pauses) {}

  String title();

  /**
   * Takes a sample. Called by the dashboard's actor, so it must return soon.
   *
   * @param previous the previous sample of this panel; empty if the last minutes have no sample
   * @param elapsedNanos the time since the previous sample
   * @param input the actors and limits
   */
  PanelSample sample(Optional<PanelSample> previous, long elapsedNanos, PanelInput input);

  /** Returns whether the panel compares samples, so that it needs samples while no page is open. */
  default boolean hasTrend() {
    return true;
  }

  /** Takes a sample. If that fails, the sample shows the class of the exception. */
  default PanelSample sampleOrFailure(Optional<PanelSample> previous, long elapsedNanos, PanelInput input) {
    try {
      return sample(previous, elapsedNanos, input);
    } catch (Throwable failure) { // of the user's code
      var map = JsonText.object("title", title(), "values", Map.of("failed", failure.getClass().getSimpleName()));
      return () -> map;
    }
  }

  /** Returns a JSON object of a panel that can have problems. */
  static Map<String, Object> map(String title, Map<String, Object> values, List<String> problems) {
    return JsonText.object("title", title, "values", values, "problems", problems);
  }
}
