//! Prints the JSON Schema of reduced models.

fn main() {
    print!("{}", exporters::schema::json_schema());
}
