package io.fibry.dashboard;

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

  String title();

  /**
   * Takes a sample. Called by the dashboard's actor, so it must return soon.
   *
   * @param previous the previous sample of this panel; empty if the last minute has no sample
   * @param elapsedNanos the time since the previous sample
   */
  PanelSample sample(Optional<PanelSample> previous, long elapsedNanos);

  /** Takes a sample. If that fails, the sample shows the class of the exception. */
  default PanelSample sampleOrFailure(Optional<PanelSample> previous, long elapsedNanos) {
    try {
      return sample(previous, elapsedNanos);
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
