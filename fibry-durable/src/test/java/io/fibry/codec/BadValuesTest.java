package io.fibry.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrowsExactly;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.DayOfWeek;
import java.time.Month;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Tests that invalid types, values and names are refused, with the expected exception texts. */
class BadValuesTest {
  sealed interface Event {}

  record Added(String item) implements Event {}

  record Old(String item) {}

  private static String refusal(Executable code) {
    return assertThrowsExactly(IllegalArgumentException.class, code).getMessage();
  }

  private static String failure(Executable code) {
    return assertThrowsExactly(CodecException.class, code).getMessage();
  }

  private static String nullText(Executable code) {
    return assertThrowsExactly(NullPointerException.class, code).getMessage();
  }

  private static byte[] old(String name) {
    return Codec.of(Old.class, forms -> forms.named(Old.class, name)).encode(new Old("cup"));
  }

  // ---- types

  record Growing(Growth<String> growth) {}

  record Growth<T>(Optional<Growth<List<T>>> more) {}

  @Test
  void typeWithTypeArgumentsNestedTooDeeplyIsRefused() {
    assertTrue(refusal(() -> Codec.of(Growing.class))
        .endsWith(" has type arguments more than 64 deep; nest them less deeply"));
  }

  enum NoValue {}

  @Test
  void enumWithoutConstantsIsRefused() {
    assertEquals(NoValue.class.getName() + " has no constants, so it has no values",
        refusal(() -> Codec.of(NoValue.class)));
  }

  // ---- values

  @SuppressWarnings("unchecked") // a caller with a raw type could pass such a value
  private static <T> void encode(Class<T> type, Object value) {
    Codec.of(type).encode((T) value);
  }

  record Names(List<String> names) {}

  @Test
  void valueOfWrongTypeIsRefused() {
    assertEquals("String: java.lang.Integer is no String", failure(() -> encode(String.class, 7)));
    assertEquals("long: java.lang.Integer is no long", failure(() -> encode(long.class, 7)));
    assertEquals("Added: java.lang.String is no Added", failure(() -> encode(Added.class, "x")));
    assertEquals("Event: " + Old.class.getName() + " is no Event", failure(() -> encode(Event.class, new Old("x"))));
    assertEquals("DayOfWeek: java.time.Month is no DayOfWeek", failure(() -> encode(DayOfWeek.class, Month.MAY)));
  }

  @Test
  @SuppressWarnings({"unchecked", "rawtypes"}) // a caller with a raw type could pass such a value
  void itemOfWrongTypeIsReportedWithItsPath() {
    var names = new Names((List) List.of(7));

    assertTrue(failure(() -> Codec.of(Names.class).encode(names))
        .startsWith("Names.Names.names: it has a value of a wrong type: class java.lang.Integer cannot be cast"));
  }

  record Days(List<DayOfWeek> days) {}

  @Test
  @SuppressWarnings({"unchecked", "rawtypes"}) // a caller with a raw type could pass such a value
  void constantOfWrongEnumIsReportedWithItsPath() {
    var days = new Days((List) List.of(Month.MAY));

    assertEquals("Days.Days.days[0]: java.time.Month is no DayOfWeek",
        failure(() -> Codec.of(Days.class).encode(days)));
  }

  record Throwing(String item) {
    @Override
    public String item() {
      throw new IllegalStateException("made up,\nfor a test");
    }
  }

  @Test
  void exceptionOfRecordAccessorIsReportedInOneLine() {
    assertEquals("Throwing.Throwing.item: the accessor of item threw java.lang.IllegalStateException: made up,\\nfor a "
        + "test", failure(() -> Codec.of(Throwing.class).encode(new Throwing("x"))));
  }

  // ---- texts

  record Stock(Map<String, String> items) {}

  @Test
  void failurePathShowsMapKeyInOneShortLine() {
    assertEquals("Stock.Stock.items[a\\nforged]: the text has half of a surrogate pair at 0",
        failure(() -> Codec.of(Stock.class).encode(new Stock(Map.of("a\nforged", "\ud800")))));
    assertTrue(failure(() -> Codec.of(Stock.class).encode(new Stock(Map.of("x".repeat(1_000_000), "\ud800"))))
        .length() < 400);
  }

  @Test
  void unknownTypeNameIsReportedInOneShortLine() {
    assertEquals("Event: no type named 'a\\nforged' is known; the types of Event are [Added], at byte 10",
        failure(() -> Codec.of(Event.class).decode(old("a\nforged"))));
    assertTrue(failure(() -> Codec.of(Event.class).decode(old("x".repeat(1_000_000)))).length() < 400);
  }

  @Test
  void pathIsAddedToCodecExceptionWithoutMessage() {
    assertEquals("Added.null", new CodecException(null).enclosedBy("Added").getMessage());
    assertEquals("Added", new CodecException("").enclosedBy("Added").getMessage());
  }

  // ---- old forms

  private static String oldFormFailure(java.util.function.Function<Old, Event> convert) {
    return failure(() -> Codec.of(Event.class, forms -> forms.readOld("Old", Old.class, convert)).decode(old("Old")));
  }

  @Test
  void exceptionOfOldFormFunctionCausesCodecException() {
    assertEquals("Event.Old: the function for " + Old.class.getName() + " threw java.lang.IllegalStateException: made "
        + "up,\\nfor a test", oldFormFailure(old -> {
          throw new IllegalStateException("made up,\nfor a test");
        }));
  }

  @Test
  void nullFromOldFormFunctionCausesCodecException() {
    assertEquals("Event.Old: the function for " + Old.class.getName() + " returned null", oldFormFailure(old -> null));
  }

  // ---- null

  @Test
  void exceptionNamesNullArgument() {
    assertEquals("type", nullText(() -> Codec.of(null)));
    assertEquals("forms", nullText(() -> Codec.of(Added.class, null)));
    assertEquals("the result of forms", nullText(() -> Codec.of(Added.class, forms -> null)));
    assertEquals("format", nullText(() -> DerivedCodec.of(Added.class, forms -> forms, null)));
    assertEquals("type", nullText(() -> Codec.of(Added.class, forms -> forms.named(null, "x"))));
    assertEquals("name", nullText(() -> Codec.of(Added.class, forms -> forms.named(Added.class, null))));
    assertEquals("name", nullText(() -> Codec.of(Event.class, forms -> forms.readOld(null, Old.class, old -> null))));
    assertEquals("now", nullText(() -> Codec.of(Event.class, forms -> forms.readOld("Old", Old.class, null))));
    assertEquals("value", nullText(() -> Codec.of(Added.class).encode(null)));
    assertEquals("bytes", nullText(() -> Codec.of(Added.class).decode(null)));
  }
}
