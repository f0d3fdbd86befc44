package io.fibry.dashboard;

import io.fibry.ActorSystem;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** The program of the README; {@link ReadmeTest} runs it. */
class Shop {
  public static void main(String[] args) throws Exception {
    try (var shop = ActorSystem.openScope("shop"); var dashboard = Dashboard.open(shop, 0)) { // or 8090, say
      var clerk = shop.named("clerk").newActorWithReturn((String order) -> order + " sold");
      clerk.ask("hat");

      System.out.println("see " + dashboard.uri().getScheme()); // prints see http
      var statistics = HttpRequest.newBuilder(dashboard.uri().resolve("statistics")).build();
      try (var tool = HttpClient.newHttpClient()) {
        var json = tool.send(statistics, HttpResponse.BodyHandlers.ofString()).body();
        System.out.println(json.substring(0, 31)); // prints {"scope":"shop","closed":false,
      }
    }
  }
}
