package io.fibry.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonAlias;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.fibry.codec.CodecException;
import io.fibry.codec.DerivedCodec;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

class MappedTypesTest {
  private static final JsonMapper MAPPER = JsonMapper.builder()
      .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).enable(SerializationFeature.INDENT_OUTPUT)
      .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  /** A class as in many libraries: it has getters, and is not a record. */
  static final class Money {
    private final String currencyCode;
    private final BigDecimal amount;

    @JsonCreator
    Money(String currencyCode, BigDecimal amount) {
      if (amount.signum() < 0) throw new IllegalArgumentException("negative");
      this.currencyCode = currencyCode;
      this.amount = amount;
    }

    /** Leaves the amount null, which the mapper can write but not read. */
    Money(String currencyCode) {
      this.currencyCode = currencyCode;
      this.amount = null;
    }

    public String getCurrencyCode() {
      return currencyCode;
    }

    public BigDecimal getAmount() {
      return amount;
    }

    public boolean isEuro() {
      return currencyCode.equals("EUR");
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Money money && currencyCode.equals(money.currencyCode) && amount.equals(money.amount);
    }

    @Override
    public int hashCode() {
      return amount.hashCode();
    }
  }

  record Paid(Money money, Optional<Money> discount, List<Money> parts) {}

  private static Money euros(String amount) {
    return new Money("EUR", new BigDecimal(amount));
  }

  private static DerivedCodec<Paid> paidCodec(JsonMapper mapper) {
    return JacksonCodecs.of(Paid.class, forms -> forms, mapped -> mapped.map(Money.class, euros("1.50"), mapper));
  }

  private static <T> String refusalOf(Class<T> type, T example, JsonMapper mapper) {
    UnaryOperator<MappedTypes> mapped = types -> types.map(type, example, mapper);
    return assertThrows(IllegalArgumentException.class, () -> JacksonCodecs.of(Paid.class, forms -> forms, mapped))
        .getMessage();
  }

  @Test
  void mapperWritesOnlyMappedTypes() {
    var codec = paidCodec(MAPPER);
    var paid = new Paid(euros("2.50"), Optional.empty(), List.of(euros("1.00"), euros("1.5E+3")));

    byte[] bytes = codec.encode(paid);

    assertEquals("""
        {"Paid":{"money":{"currency_code":"EUR","amount":2.50,"euro":true},"discount":null,"parts":[\
        {"currency_code":"EUR","amount":1.00,"euro":true},{"currency_code":"EUR","amount":1.5E+3,"euro":true}]}}""",
        new String(bytes, UTF_8));
    assertEquals(paid, codec.decode(bytes));
    assertEquals("Paid = 'Paid' Paid\nPaid(money: Money, discount: Money?, parts: [Money])\n", codec.schema());
    assertEquals(euros("1.50"), codec.decode(codec.samples().get("Paid-1")).money());
  }

  @Test
  void mapperWritesJdkTypesInsideMappedRecord() {
    record Day(@JsonFormat(pattern = "dd.MM.yyyy") LocalDate date) {}
    record Dates(Day day, LocalDate plainDate) {}
    var codec = JacksonCodecs.of(Dates.class, forms -> forms,
        mapped -> mapped.map(Day.class, new Day(LocalDate.EPOCH), JsonMapper.shared()));

    assertEquals("{\"Dates\":{\"day\":{\"date\":\"01.01.1970\"},\"plainDate\":\"1970-01-01\"}}",
        new String(codec.encode(new Dates(new Day(LocalDate.EPOCH), LocalDate.EPOCH)), UTF_8));
  }

  @Test
  void jsonTreeIsDecodedAsItWasEncoded() {
    record Response(JsonNode body) {}
    var codec = JacksonCodecs.of(Response.class, forms -> forms,
        mapped -> mapped.map(JsonNode.class, MAPPER.readTree("{\"a\":[1,null]}"), MAPPER));
    var response = new Response(MAPPER.readTree("[{\"x\":null,\"y\":1e5},\"\u00fc\",true]"));

    assertEquals(response, codec.decode(codec.encode(response)));
  }

  @Test
  void textAfterMappedValueIsRefusedByEachMapper() {
    var codec = paidCodec(MAPPER.rebuild().disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build());
    String money = "{\"currency_code\":\"EUR\",\"amount\":2}";

    for (var json : List.of("{\"Paid\":{\"money\":" + money + "}} 1", "{\"Paid\":{\"money\":" + money + " 1}}",
        "{\"Paid\":{\"money\":" + money + money + "}}"))
      assertThrows(CodecException.class, () -> codec.decode(json.getBytes(UTF_8)), json);
  }

  @Test
  void unknownFieldIsSkippedAndMissingFieldIsRefused() {
    var codec = paidCodec(MAPPER);
    String newerJson = "{\"Paid\":{\"money\":{\"currency_code\":\"EUR\",\"amount\":2,\"rate\":3}}}";
    String olderJson = "{\"Paid\":{\"money\":{\"amount\":2}}}";

    assertEquals(new Paid(euros("2"), Optional.empty(), List.of()), codec.decode(newerJson.getBytes(UTF_8)));
    String text =
        assertThrows(CodecException.class, () -> codec.decode(olderJson.getBytes(UTF_8))).getMessage();
    assertTrue(text.startsWith("Paid.Paid.money: the mapper of Money cannot read it: Missing creator property '"
        + "currency_code'"), text);
  }

  @Test
  void unknownFieldsOfMappedTypesAreReported() {
    var codec = paidCodec(MAPPER);
    String newerJson = "{\"Paid\":{\"money\":{\"currency_code\":\"EUR\",\"rate\":{\"a\":[3]},\"amount\":2,"
        + "\"euro\":true},\"at\":\"now\",\"parts\":[]}}";
    var unknownFields = new ArrayList<String>();

    assertEquals(new Paid(euros("2"), Optional.empty(), List.of()),
        codec.decode(newerJson.getBytes(UTF_8), unknownFields::add));
    assertEquals(List.of("field 'rate' of Money", "field 'at' of Paid"), unknownFields);

    unknownFields.clear();
    codec.decode(codec.encode(new Paid(euros("2"), Optional.empty(), List.of(euros("3")))), unknownFields::add);
    assertEquals(List.of(), unknownFields);
  }

  record Discount(int percent, Optional<Discount> next) {}

  record Rebate(@JsonAlias("amount") int percent) {
    @JsonProperty("half")
    int half() {
      return percent / 2;
    }
  }

  record Offer(Discount discount, @JsonAlias("bonus") List<Rebate> rebates) {}

  /**
   * Decodes an offer, and returns the unknown fields that the codec reports. The codec knows
   * {@code half} as a derived field of rebates only.
   */
  private static List<String> unknownFieldsOfOffer(String json) {
    record Sale(Offer offer) {}
    var example = new Offer(new Discount(1, Optional.of(new Discount(2, Optional.empty()))), List.of(new Rebate(2)));
    var codec = JacksonCodecs.of(Sale.class, forms -> forms,
        mapped -> mapped.map(Offer.class, example, JsonMapper.shared()));
    var unknownFields = new ArrayList<String>();
    codec.decode(("{\"Sale\":{\"offer\":" + json + "}}").getBytes(UTF_8), unknownFields::add);
    return unknownFields;
  }

  @Test
  void unknownFieldIsReportedThoughOtherTypeHasFieldOfItsName() {
    assertEquals(List.of("field 'half' of Discount"), unknownFieldsOfOffer("""
        {"discount":{"percent":4,"half":7,"next":null},"rebates":[{"percent":4}]}"""));
  }

  @Test
  void unknownFieldIsReportedIfItContainsFieldOfSameName() {
    assertEquals(List.of("field 'half' of Discount"), unknownFieldsOfOffer("""
        {"discount":{"percent":4,"next":{"percent":1,"half":{"half":1},"next":null}},"rebates":[{"percent":4}]}"""));
  }

  @Test
  void knownDerivedFieldIsNotReportedInsideAliasedField() {
    assertEquals(List.of(), unknownFieldsOfOffer("""
        {"discount":{"percent":4,"next":null},"bonus":[{"amount":4,"half":2}]}"""));
  }

  @Test
  void valueThatMapperCannotReadBackIsNotEncoded() {
    var codec = paidCodec(MAPPER);
    var paid = new Paid(new Money("EUR"), Optional.empty(), List.of());

    String text = assertThrows(CodecException.class, () -> codec.encode(paid)).getMessage();

    assertTrue(text.startsWith("Paid.Paid.money: the mapper of Money cannot read it: "), text);
  }

  @Test
  void mapperThatWritesInvalidJsonIsRefused() {
    var lenientMapper = JsonMapper.builder().disable(JsonWriteFeature.QUOTE_PROPERTY_NAMES).build();

    assertTrue(refusalOf(Money.class, euros("1"), lenientMapper).contains("cannot read it"));
  }

  @Test
  void mapperThatReadsClassNamesFromBytesIsRefused() {
    var typingMapper = JsonMapper.builder()
        .activateDefaultTyping(BasicPolymorphicTypeValidator.builder().allowIfSubType(Object.class).build()).build();
    assertTrue(refusalOf(Money.class, euros("1"), typingMapper)
        .contains("default typing, so bytes would choose classes"));

    record Any(@JsonTypeInfo(use = JsonTypeInfo.Id.CLASS) Object any) {}
    var any = new Any(new Pair("a", 1));
    var permissiveMapper = MAPPER.rebuild()
        .polymorphicTypeValidator(BasicPolymorphicTypeValidator.builder().allowIfBaseType(Object.class).build())
        .build();
    // without the check of MappedTypes, Jackson would read the class from the bytes
    assertEquals(any, permissiveMapper.readValue(permissiveMapper.writeValueAsString(any), Any.class));
    String text = refusalOf(Any.class, any, permissiveMapper);
    assertTrue(text.contains("NoClassValidator`) denied resolution of all subtypes"), text);
  }

  public static class Bean {
    public int cents;
    public Inner inner = new Inner();

    public static class Inner {
      public String text = "x";
      public List<String> notes = List.of("a");
    }
  }

  record Pair(String name, int count) {}

  @Test
  void mapperThatSilentlyDefaultsMissingFieldIsRefused() {
    var bean = new Bean();
    bean.cents = 5;

    assertEquals(0, MAPPER.readValue("{}", Bean.class).cents);
    assertEquals("the mapper reads a io.fibry.jackson.MappedTypesTest$Bean without 'cents', which would be 0; let a "
        + "constructor take all its fields, or write it as a record", refusalOf(Bean.class, bean, MAPPER));
    bean.cents = 0;
    bean.inner.text = "y";
    assertTrue(refusalOf(Bean.class, bean, MAPPER)
        .contains("without 'inner', which would be {\"notes\":[\"a\"],\"text\":\"x\""));
    JacksonCodecs.of(Pair.class, forms -> forms, mapped -> mapped.map(Pair.class, new Pair("a", 1), MAPPER));
  }

  static final class Lossy {
    @Override
    public boolean equals(Object other) {
      return this == other;
    }

    @Override
    public int hashCode() {
      return 0;
    }

    public int getX() {
      return 1;
    }
  }

  @Test
  void mappedTypeWithExampleThatDoesNotRoundTripIsRefused() {
    assertTrue(refusalOf(Lossy.class, new Lossy(), MAPPER).contains("as another value"));
    assertTrue(refusalOf(Runnable.class, () -> {}, MAPPER).contains("the mapper of Runnable cannot"));
    assertTrue(refusalOf(Comparable.class, "x", MAPPER).contains("has type parameters"));
    assertThrows(NullPointerException.class, () -> MappedTypes.none().map(Money.class, null, MAPPER));
  }
}
