package io.fibry.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.fibry.ActorSystem;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.support.Logged;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Tests whom a body that cannot be read is blamed on, and what the client learns. */
class JsonBodyCodecTest {
  record Line(String item, int count) {
    Line {
      Objects.requireNonNull(item, "item");
      if (count < 0) throw new IllegalArgumentException("a count of " + count + "; give 0 or more");
    }
  }
  record Order(List<Line> lines) {}

  /** A type that no mapper can construct, which is a bug of the server. */
  interface Unreadable {
    int value();
  }

  record Broken(int value) {
    Broken {
      if (value >= 0) throw new IllegalStateException("planned");
    }
  }

  private final JsonBodyCodec codec = JsonBodyCodec.of(
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build());

  private <T> T read(String body, Class<T> type) {
    return codec.read(body.getBytes(UTF_8), type);
  }

  private String refusal(String body, Class<?> type) {
    var refusal = assertThrows(HttpException.class, () -> read(body, type));
    assertEquals(400, refusal.status());
    return refusal.getMessage();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
    "`` | the body is empty; send an object as JSON",
    "null | the body is null; send an object as JSON",
    "{\"lines\":[{\"item\":\"tea\",\"count\":\"two\"}]} | line 1, column 33: field lines[0].count is not an integer",
    "{\"lines\":[{\"item\":\"tea\",\"count\":99999999999}]} | line 1, column 44: field lines[0].count is out of range",
    "{\"lines\":[{\"item\":\"tea\",\"count\":null}]} | line 1, column 33: field lines[0].count is null",
    "{\"lines\":[{\"item\":\"tea\",\"weight\":1}]} | line 1, column 25: field lines[0].weight is unknown; known are count, item",
    "{\"lines\":[{\"count\":1}]} | line 1, column 21: field lines[0].item is missing",
    "{\"lines\":[{\"item\":null}]} | line 1, column 23: field lines[0].item is null",
    "{\"lines\":[{\"item\":\"tea\",\"count\":-1}]} | line 1, column 35: field lines[0] is refused: a count of -1; give 0 or more",
    "{\"lines\":7} | line 1, column 10: field lines is not a list", "[] | line 1, column 1: the body is not an object"})
  void clientLearnsWhereItsBodyIsWrong(String body, String expected) {
    assertEquals("400 Bad Request: " + expected, refusal(body, Order.class));
  }

  @Test
  void malformedJsonIsRefusedWithLineAndColumn() {
    for (var body : List.of("{\n \"lines\": [}", "{\n \"lines\": ["))
      assertTrue(refusal(body, Order.class).startsWith("400 Bad Request: line 2, column "), body);
    assertTrue(refusal("[".repeat(100_000), List.class).contains("depth"), "deep nesting");
    assertTrue(refusal("{\"lines\":[]} x", Order.class).startsWith("400 Bad Request: "), "a trailing token");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
    "{\"lines\":[] | 1, column 12: malformed JSON: Unexpected end-of-input: expected close marker for Object",
    "{\"lines\":[} | 1, column 11: malformed JSON: Unexpected close marker '}': expected ']'",
    "{\"lines\":[\"a | 1, column 13: malformed JSON: Unexpected end-of-input in a string",
    "{\"lines\":NaN} | 1, column 13: malformed JSON: Non-standard token 'NaN'",
    "{\"lines\":+1} | 1, column 11: malformed JSON: Unexpected character ('+' (code 43)) in numeric value: "
        + "JSON spec does not allow numbers to have plus signs",
    "{/* } | 1, column 2: malformed JSON: Unexpected character ('/' (code 47)): maybe a (non-standard) comment?",
    "{\"lines\":[]} {} | 1, column 14: the body is followed by more JSON"})
  void clientGetsNoNamesOfClassesAndOptions(String body, String expected) {
    assertEquals("400 Bad Request: line " + expected, refusal(body, Order.class));
  }

  record Person(@JsonProperty("full_name") String name, String nickname, String town, int age) {
    Person {
      if (name == null || age > 0 && town.isEmpty()) throw new NullPointerException();
      if (age > 100) Objects.requireNonNull(nickname, "nickname");
      if (age < 0) throw new NullPointerException("planned");
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
    "{\"town\":\"Rome\"} | the body lacks one of the fields full_name, nickname",
    "{\"nickname\":\"Al\",\"town\":\"Rome\"} | field full_name is missing",
    "{\"full_name\":\"Ada\",\"age\":9} | field town is missing",
    "{\"full_name\":\"Ada\",\"town\":\"Rome\",\"age\":101} | field nickname is missing",
    "{\"full_name\":\"A\",\"nickname\":\"B\",\"town\":\"C\",\"age\":-1} | the body lacks a field"})
  void refusalNamesFieldsThatMayHaveCausedNullPointerException(String body, String expected) {
    assertEquals(expected, refusal(body, Person.class).replaceAll(".*: ", ""));
  }

  record Basket(List<Line> lines, Map<String, Integer> prices, String[] notes, String town) {
    Basket {
      if (prices != null) prices = Map.copyOf(prices);
      if (notes != null) for (var note : notes) note.length();
      lines = List.copyOf(lines);
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
    "{\"town\":\"\",\"prices\":{},\"notes\":[],\"lines\":[null]} | field lines[0] is null",
    "{\"town\":\"\",\"prices\":{},\"notes\":[],\"lines\":[{\"item\":\"a\"},null,null]} | field lines[1] is null",
    "{\"town\":\"\",\"prices\":{\"tea\":null},\"notes\":[],\"lines\":[]} | field prices.tea is null",
    "{\"town\":\"\",\"prices\":{},\"notes\":[\"\",null],\"lines\":[]} | field notes[1] is null",
    "{\"prices\":{},\"notes\":[],\"lines\":[null]} | the body lacks one of the fields lines[0], town",
    "{\"town\":\"\",\"prices\":{},\"notes\":[]} | field lines is missing",
    "{\"town\":\"\",\"prices\":{},\"notes\":[],\"lines\":null} | field lines is null"})
  void refusalNamesFirstNullElement(String body, String expected) {
    assertEquals(expected, refusal(body, Basket.class).replaceAll("^400 Bad Request: line 1, column \\d+: ", ""));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {"number | \"2\" | an integer", "number | 1.0 | an integer",
    "number | \"\" | an integer", "price | \"1.5\" | a number", "text | 7 | a text", "text | 1.5 | a text",
    "text | true | a text", "color | 0 | one of its values", "color | \"0\" | one of its values",
    "done | 1 | true or false", "done | \"true\" | true or false"})
  void strictMapperRefusesCoercion(String field, String value, String expected) {
    var strict = JsonBodyCodec.of(
        JavadocSnippetsTest.STRICT.rebuild().disable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES).build());

    var body = "{\n\"" + field + "\":" + value + "}";
    var refusal = assertThrows(HttpException.class, () -> strict.read(body.getBytes(UTF_8), Kinds.class));

    assertEquals(400, refusal.status());
    assertEquals("400 Bad Request: line 2, column " + (field.length() + 4) + ": field " + field + " is not " + expected,
        refusal.getMessage());
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
    "{\"lines\":[{\"itme\":\"a\",\"count\":1}]} | field lines[0].item is missing; field lines[0].itme is unknown; "
        + "known are count, item",
    "{\"lines\":[{\"item\":\"a\",\"count\":-1,\"size\":1}]} | "
        + "field lines[0] is refused: a count of -1; give 0 or more; field lines[0].size is unknown; known are count, item",
    "{\"lines\":[{\"item\":\"a\",\"count\":null,\"size\":1}]} | "
        + "field lines[0].count is null; field lines[0].size is unknown; known are count, item"})
  void refusalOfConstructorNamesUnknownFieldToo(String body, String expected) {
    assertEquals(expected, refusal(body, Order.class).replaceAll("^400 Bad Request: line 1, column \\d+: ", ""));
  }

  @Test
  void mapperThatIgnoresUnknownFieldsNamesNone() {
    var lenient = JsonBodyCodec.of(new JsonMapper());

    var refusal = assertThrows(HttpException.class,
        () -> lenient.read("{\"lines\":[{\"itme\":\"a\"}]}".getBytes(UTF_8), Order.class));

    assertTrue(refusal.getMessage().endsWith("field lines[0].item is missing"), refusal.getMessage());
  }

  @Test
  void strictMapperTellsNullFromMissing() {
    var strict = JsonBodyCodec.of(JavadocSnippetsTest.STRICT.rebuild()
        .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES).build());

    var texts = Stream.of("{\"what\":null,\"count\":1}", "{\"count\":1}", "{\"waht\":\"a\",\"count\":1}")
        .map(body -> assertThrows(HttpException.class,
            () -> strict.read(body.getBytes(UTF_8), JavadocSnippetsTest.Order.class)).getMessage()
            .replaceAll(".*column \\d+: ", ""))
        .toList();

    assertEquals(List.of("field what is null", "field what is missing",
        "field what is missing; field waht is unknown; known are count, what"), texts);
  }

  @Test
  void strictMapperNamesMissingAndUnknownFields() {
    var strict = JsonBodyCodec.of(JavadocSnippetsTest.STRICT);

    var texts = Stream
        .of("{\"what\":\"hat\",\"cuont\":1}", "{\"what\":\"hat\",\n\"count\": 1, \"colors\": [1, 2]}",
            "{\"what\":\"hat\"}", "{\"what\":\"hat\",\n\"count\":1.5}")
        .map(body -> assertThrows(HttpException.class,
            () -> strict.read(body.getBytes(UTF_8), JavadocSnippetsTest.Order.class)).getMessage())
        .toList();

    assertEquals(List.of(
        "400 Bad Request: line 1, column 24: field count is missing; field cuont is unknown; known are count, what",
        "400 Bad Request: line 2, column 13: field colors is unknown; known are count, what",
        "400 Bad Request: line 1, column 14: field count is missing",
        "400 Bad Request: line 2, column 9: field count is not an integer"), texts);
  }

  enum Color {
    RED
  }
  record Kinds(Color color, double price, UUID id, List<String> names, boolean done, Instant at, String text,
      Map<String, Line> lines, Line line, long number) {}

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"color | [] | one of its values", "color | \"BLUE\" | one of its values",
    "price | [] | a number", "id | \"x\" | a valid UUID", "names | 7 | a list", "done | \"maybe\" | true or false",
    "at | \"x\" | a valid Instant", "text | [] | a text", "lines | 7 | an object", "line | 7 | an object",
    "number | {} | an integer"})
  void refusalNamesJsonInsteadOfClassOfProgram(String field, String value, String expected) {
    var text = refusal("{\"" + field + "\":" + value + "}", Kinds.class);

    assertTrue(text.endsWith(": field " + field + " is not " + expected), text);
  }

  @Test
  void refusalOfDeepNestingNamesLimitAlone() {
    var text = refusal("[".repeat(100_000), List.class);

    assertTrue(text.endsWith(": Document nesting depth (501) exceeds the maximum allowed (500)"), text);
  }

  @Test
  void errorTextShowsClientInputShortenedAndInOneLine() {
    var text = refusal("{\"" + "x".repeat(10_000) + "\\n\": 1}", Order.class);

    assertTrue(text.length() < 400, text);
    assertFalse(text.contains("\n"), text);
  }

  @Test
  void typeThatMapperCannotReadIsServerError() {
    assertThrows(JacksonException.class, () -> read("{\"value\": 1}", Unreadable.class));
    assertThrows(JacksonException.class, () -> read("{\"value\": 1}", Broken.class));
  }

  @Test
  void serverErrorIsLoggedAndClientErrorIsNot() throws Exception {
    var routes = HttpRoutes.none().withBodyCodec(codec)
        .text("POST /order", exchange -> "" + exchange.bodyAs(Order.class).lines().size())
        .text("POST /broken", exchange -> "" + exchange.bodyAs(Unreadable.class).value());
    try (var server = HttpServer.open(ActorSystem.anonymous(), 0, routes, o -> o);
        var client = HttpClient.newHttpClient();
        var logged = new Logged()) {
      assertEquals(400, status(client, server.port(), "/order", "{"));
      assertEquals(200, status(client, server.port(), "/order", "{\"lines\": []}"));
      assertEquals("", logged.entriesAbout("HTTP server", "JsonBodyCodecTest"));

      assertEquals(500, status(client, server.port(), "/broken", "{\"value\": 1}"));
      assertTrue(logged.text().contains("the body codec cannot read a Unreadable for POST /broken"), logged.text());
    }
  }

  private static int status(HttpClient client, int port, String path, String body) throws Exception {
    var uri = URI.create("http://localhost:" + port + path);
    return client.send(HttpRequest.newBuilder(uri).POST(BodyPublishers.ofString(body)).build(),
        BodyHandlers.ofString()).statusCode();
  }
}
