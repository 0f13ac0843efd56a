"""Settings of a module and the verdict on an approach, both from site data and recorded facts."""
