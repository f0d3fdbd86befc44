package io.fibry.dashboard;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** A scope, its dashboard and a browser, for tests of the page. */
abstract class PageFixture {
  // Chromium still writes files for a moment after its end
  @TempDir(cleanup = CleanupMode.NEVER)
  static Path profile;

  /** Hides the pauses of this process, which a busy machine causes. */
  private static final String HIDE_PAUSES_SCRIPT = "(parse => {JSON.parse = text => {const data = parse(text); "
      + "delete data.pause; delete data.pauses; return data}})(JSON.parse), delete statistics.pause, pauses = [], "
      + "show(statistics)";

  final ActorScope scope = ActorSystem.openScope("app");
  Dashboard dashboard;
  Chromium chromium;

  abstract void openDashboard() throws Exception;

  @BeforeEach
  void open() throws Exception {
    assumeTrue(Chromium.program().isPresent(), "there is no Chromium");
    openDashboard();
    chromium = new Chromium(profile);
    chromium.setSize(1200, 800);
  }

  @AfterEach
  void close() throws Exception {
    if (chromium != null) chromium.close();
    if (dashboard != null) dashboard.close();
    scope.closeWithin(Duration.ZERO);
  }

  final void show() throws Exception {
    show("");
  }

  final void show(String query) throws Exception {
    chromium.open(URI.create(dashboard.uri() + query));
    chromium.until("statistics !== null");
    chromium.value(HIDE_PAUSES_SCRIPT);
  }

  /** Shows the page in a window of this size. */
  final void showAt(int width, int height) throws Exception {
    chromium.setSize(width, height);
    show();
    chromium.until("innerWidth === " + width);
  }
}
