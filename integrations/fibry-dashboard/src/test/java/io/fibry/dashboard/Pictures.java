package io.fibry.dashboard;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Makes the pictures in {@code docs/images}, after three minutes of a demo:
 * {@code mvn -q -Pdashboard -Dmain=Pictures}.
 */
final class Pictures {
  private static final Path FOLDER = Path.of("../../docs/images");

  private Pictures() {}

  public static void main(String[] args) throws Exception {
    int seconds = Integer.parseInt(args[1]);
    Files.createDirectories(FOLDER);
    var profile = Files.createTempDirectory("chromium");
    try (var shop = new DemoShop();
        var dashboard = Dashboard.open(shop.scope(), 0, shop::withPanels);
        var chromium = new Chromium(profile)) {
      shop.open();
      chromium.setSize(1200, 1600);
      chromium.open(dashboard.uri());
      // several calls, because each call must take less than a minute
      for (int elapsedSeconds = 1; elapsedSeconds <= seconds; elapsedSeconds += 20)
        chromium.until("cards[0].history.length >= " + Math.min(elapsedSeconds, 180));
      for (var theme : List.of("light", "dark")) {
        chromium.value("showTheme('" + theme + "')");
        Files.write(FOLDER.resolve("dashboard-" + theme + ".png"), chromium.takePicture());
      }
      chromium.setSize(390, 844); // a phone
      chromium.value("showTheme('light')");
      chromium.until("innerWidth === 390");
      Files.write(FOLDER.resolve("dashboard-phone.png"), chromium.takePicture());
    }
  }
}
