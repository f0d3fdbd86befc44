package io.fibry.dashboard;

/** Runs a simulated shop and its dashboard until it is stopped: {@code mvn -q -Pdashboard}. */
final class Demo {
  private Demo() {}

  public static void main(String[] args) throws InterruptedException {
    try (var shop = new DemoShop();
        var dashboard = Dashboard.open(shop.scope(), Integer.parseInt(args[0]), shop::withPanels)) {
      shop.open();
      System.out.println("The dashboard of a shop: " + dashboard.uri() + " (Ctrl+C ends it)");
      Thread.currentThread().join();
    }
  }
}
